import BelfrySystem
import TestKit
import Testing

@testable import BelfryRedis

/// The state machine against a model of three Sentinels, two nodes and two links, in which all of them fail.
@Suite struct SentinelSimulationTests {
  @Test(arguments: TestEnvironment.givenSeed.map { [$0] } ?? (0..<200).map { TestEnvironment.seed &+ $0 })
  func afterAnyFaultsEachLinkIsAtTheMaster(seed: UInt64) {
    var world = SentinelWorld(seed: seed)
    world.run(for: .seconds(30), withFaults: true)
    world.heal()
    // The slowest: a Sentinel that was cut off a moment ago, the longest pause of a link, and two seconds of gossip.
    world.run(for: .seconds(5), withFaults: false)
    #expect(world.links.allSatisfy { $0.node == world.master }, "seed \(seed)")
    let asked = world.asked
    world.run(for: .seconds(10), withFaults: false)
    #expect((9...11).contains(world.asked - asked), "one look a second, seed \(seed)")
    #expect(world.links.allSatisfy { $0.node == world.master })
    #expect(world.askedAtMostInASecond <= 30, "seed \(seed)")

    world.killSentinels()
    world.dropLinks()
    world.run(for: .seconds(5), withFaults: false)
    #expect(world.links.allSatisfy { $0.node == world.master }, "nobody could be asked, seed \(seed)")
  }
}

private struct SentinelWorld {
  typealias Address = RedisEndpoint.Address
  typealias Instant = ContinuousClock.Instant

  struct Link {
    /// The node that it is connected to.
    var node: Int?
    var isWaiting = false
    var failures = 0
    var connectsAt: Instant
  }

  private struct Sentinel {
    var isUp = true
    var named = 0
    /// When it hears of the last failover.
    var learnsAt: Instant
  }

  private static let step: Duration = .milliseconds(10)
  private var random: SeededGenerator
  private var machine: SentinelStateMachine
  private var now = ContinuousClock.now
  private var sentinels: [Sentinel]
  private var areNodesUp = [true, true]
  private(set) var master = 0
  private(set) var links: [Link]
  private var question: (sentinel: Int, endsAt: Instant)?
  private var looksAt: Instant
  private(set) var asked = 0
  private(set) var askedAtMostInASecond = 0
  private var secondBegan: (at: Instant, asked: Int)

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    // Only one is configured.
    machine = SentinelStateMachine([Self.sentinel(0)])
    sentinels = Array(repeating: Sentinel(learnsAt: now), count: 3)
    links = Array(repeating: Link(connectsAt: now), count: 2)
    (looksAt, secondBegan) = (now, (now, 0))
  }

  private static func sentinel(_ number: Int) -> Address { .tcp(host: "sentinel", port: UInt16(number + 1)) }
  private static func node(_ number: Int) -> Address { .tcp(host: "node", port: UInt16(number + 1)) }
  private static func number(_ address: Address) -> Int {
    if case .tcp(_, let port) = address { Int(port) - 1 } else { -1 }
  }

  mutating func run(for duration: Duration, withFaults: Bool) {
    let end = now + duration
    while now < end {
      now += Self.step
      if withFaults { fail() }
      gossip()
      endQuestion()
      for index in links.indices { connect(index) }
      if looksAt <= now { carryOut(machine.look(now: now)) }
      if secondBegan.at + .seconds(1) <= now {
        askedAtMostInASecond = max(askedAtMostInASecond, asked - secondBegan.asked)
        secondBegan = (now, asked)
      }
    }
  }

  // MARK: Faults

  private mutating func fail() {
    if random.oneIn(200) { sentinels[random.below(3)].isUp.toggle() }
    if random.oneIn(300) {
      let node = random.below(2)
      areNodesUp[node].toggle()
      if !areNodesUp[node] { for index in links.indices where links[index].node == node { lose(index) } }
    }
    if random.oneIn(300), areNodesUp[1 - master] { failOver() }
    if random.oneIn(300) { lose(random.below(links.count)) }
  }

  /// The old one does not hear of it, and goes on answering.
  private mutating func failOver() {
    master = 1 - master
    for index in sentinels.indices {
      sentinels[index].learnsAt = now + .milliseconds(random.below(2_000))
    }
  }

  mutating func heal() {
    areNodesUp = [true, true]
    for index in sentinels.indices { sentinels[index].isUp = true }
  }

  mutating func killSentinels() { for index in sentinels.indices { sentinels[index].isUp = false } }

  mutating func dropLinks() { for index in links.indices { lose(index) } }

  private mutating func gossip() {
    for index in sentinels.indices where sentinels[index].isUp && sentinels[index].learnsAt <= now {
      sentinels[index].named = master
    }
  }

  // MARK: Links

  private mutating func lose(_ index: Int) {
    guard let node = links[index].node else { return }
    machine.refuse(Self.node(node))
    (links[index].node, links[index].failures) = (nil, 0)
    retry(index)
  }

  private mutating func retry(_ index: Int) {
    let backoff = Backoff(.milliseconds(50), atMost: .seconds(1), jitter: .none)
    links[index].connectsAt = now + backoff.delay(doublings: links[index].failures, random: 0)
    links[index].failures += 1
  }

  private mutating func connect(_ index: Int) {
    guard links[index].node == nil, !links[index].isWaiting, links[index].connectsAt <= now else { return }
    switch machine.locate(now: now) {
    case .found(let address): connect(index, to: Self.number(address))
    case .fail: retry(index)
    case .ask(let sentinel):
      links[index].isWaiting = true
      ask(sentinel)
    case .none, .wait: links[index].isWaiting = true
    }
  }

  private mutating func connect(_ index: Int, to node: Int) {
    if areNodesUp[node], node == master {
      (links[index].node, links[index].failures) = (node, 0)
    } else {
      machine.refuse(Self.node(node))
      retry(index)
    }
  }

  // MARK: Questions

  private mutating func carryOut(_ action: SentinelStateMachine.Action) {
    switch action {
    case .none: break
    case .ask(let sentinel): ask(sentinel)
    case .wait(let pause): looksAt = now + pause
    case .found(let address):
      end { world, index in world.connect(index, to: Self.number(address)) }
      for index in links.indices where links[index].node != nil && links[index].node != Self.number(address) {
        lose(index)
      }
    case .fail: end { world, index in world.retry(index) }
    }
  }

  private mutating func end(_ body: (inout SentinelWorld, Int) -> Void) {
    looksAt = now + SentinelStateMachine.interval
    for index in links.indices where links[index].isWaiting {
      links[index].isWaiting = false
      body(&self, index)
    }
  }

  private mutating func ask(_ sentinel: Address) {
    asked += 1
    let number = Self.number(sentinel)
    let pause = sentinels[number].isUp ? random.below(20) : random.oneIn(2) ? 500 : 1
    question = (number, now + .milliseconds(pause))
  }

  private mutating func endQuestion() {
    guard let asked = question, asked.endsAt <= now else { return }
    question = nil
    guard sentinels[asked.sentinel].isUp else { return carryOut(machine.failed(now: now)) }
    let others = (0..<3).filter { $0 != asked.sentinel }.map { Self.sentinel($0) }
    let named = Self.node(sentinels[asked.sentinel].named)
    carryOut(machine.answered(SentinelAnswer(named, others: others), now: now))
  }
}
