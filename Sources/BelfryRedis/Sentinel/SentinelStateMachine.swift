import BelfrySystem

/// The answer of a Sentinel that was asked for the master.
struct SentinelAnswer: Hashable {
  /// Nil if the Sentinel watches no master of that name.
  var master: RedisEndpoint.Address?
  /// The other Sentinels that it knows.
  var others: [RedisEndpoint.Address]

  init(_ master: RedisEndpoint.Address?, others: [RedisEndpoint.Address] = []) {
    (self.master, self.others) = (master, others)
  }

  static func commands(_ name: String) -> [RedisCommand] {
    [
      RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name), RedisCommand("SENTINEL", "SENTINELS", name),
    ]
  }

  /// - Parameter replies: the replies to ``commands(_:)``. Without the permission to list the others, they
  ///   name only the master.
  init(_ replies: [RedisReply]) throws(RedisError) {
    if let reply = try replies[0].ifPresent?.array(count: 2) {
      let host = try reply[0].string()
      guard let port = UInt16(try reply[1].string()), port > 0, !host.isEmpty else {
        throw RedisError(.unexpectedReply, cause: "the master's address is not valid", place: "SENTINEL")
      }
      master = .tcp(host: host, port: port)
    }
    others = []
    guard case .array(let lists) = replies[1] else { return }
    for list in lists {
      let facts = try Self.facts(list)
      guard let host = facts["ip"], let port = facts["port"].flatMap({ UInt16($0) }), port > 0 else {
        continue
      }
      others.append(.tcp(host: host, port: port))
    }
  }

  /// A list of names, each followed by its value.
  private static func facts(_ list: RedisReply) throws(RedisError) -> [String: String] {
    var (facts, name): ([String: String], String?) = ([:], nil)
    for reply in try list.array() {
      let word = try reply.string()
      if let known = name.take() { facts[known] = word } else { name = word }
    }
    return facts
  }
}

/// Decides which Sentinel is asked for the master, when, and what the answers mean.
///
/// A round asks one Sentinel after the other until one names the master. From then on that Sentinel is asked
/// first, until its answer proves wrong: a Sentinel that was cut off names the old master.
///
/// The state machine is pure: it is told what happened and when.
struct SentinelStateMachine {
  typealias Address = RedisEndpoint.Address
  typealias Instant = ContinuousClock.Instant

  enum Action: Hashable {
    /// No action: a question is under way, and its end decides.
    case none
    case ask(Address)
    /// No question is due before.
    case wait(Duration)
    /// The master, as far as the Sentinels know, or knew when they last answered.
    case found(Address)
    case fail(Failure)
  }

  enum Failure: Hashable {
    /// The Sentinels that answer watch no master of that name.
    case unknownName
    case noAnswer
  }

  /// The time between two looks while nothing seems wrong. Until the next look a broker may write to a master
  /// that was demoted without hearing of it: Sentinels tell such a master after eight seconds.
  static let interval: Duration = .seconds(1)
  /// An answer is good for so long. Links that lost the same master ask together, and get the same answer.
  static let answerAge: Duration = .milliseconds(100)
  /// The most Sentinels that are remembered. Few deployments have more than five.
  static let sentinelsMax = 32

  private let configured: [Address]
  /// The Sentinels in the order in which they are asked.
  private(set) var sentinels: [Address]
  /// The address that was named last.
  private(set) var master: Address?
  private let backoff: Backoff
  /// True if the last named address has not proved wrong.
  private var isCredible = false
  private var asked: Address?
  /// The Sentinels that are left to ask in this round.
  private var rest: [Address] = []
  private var isNameUnknown = false
  private var endedAt: Instant?
  private var failure: Failure?
  /// Rounds in a row that found nothing.
  private var failures = 0

  init(
    _ sentinels: [Address],
    backoff: Backoff = Backoff(answerAge, atMost: interval, jitter: .none)
  ) {
    (configured, self.sentinels, self.backoff) = (sentinels, sentinels, backoff)
  }

  /// A link is about to connect.
  mutating func locate(now: Instant) -> Action {
    if asked != nil { return .none }
    if let endedAt, now < endedAt + patience {
      if let failure { return outcome(of: failure) }
      if isCredible, let master { return .found(master) }
    }
    return begin()
  }

  /// The action while nobody connects. To be called after the wait that it names.
  mutating func look(now: Instant) -> Action {
    if asked != nil { return .none }
    if let endedAt, endedAt + Self.interval > now { return .wait(now.duration(to: endedAt + Self.interval)) }
    return begin()
  }

  /// Notes that the named master could not be connected to, was lost, or is no master.
  mutating func refuse(_ address: Address) {
    guard address == master, isCredible else { return }
    isCredible = false
    // Another Sentinel is asked first.
    sentinels.append(sentinels.removeFirst())
  }

  mutating func answered(_ answer: SentinelAnswer, now: Instant) -> Action {
    guard let sentinel = asked else { return .none }
    guard let named = answer.master else {
      isNameUnknown = true
      return passOver(sentinel, now: now)
    }
    learn(answer.others, from: sentinel)
    (asked, rest, endedAt) = (nil, [], now)
    (master, isCredible, failure, failures) = (named, true, nil, 0)
    return .found(named)
  }

  /// The Sentinel that was asked has not answered in time.
  mutating func failed(now: Instant) -> Action {
    guard let sentinel = asked else { return .none }
    return passOver(sentinel, now: now)
  }

  private mutating func begin() -> Action {
    (rest, isNameUnknown) = (sentinels, false)
    let first = rest.removeFirst()
    asked = first
    return .ask(first)
  }

  private mutating func passOver(_ sentinel: Address, now: Instant) -> Action {
    sentinels.removeAll { $0 == sentinel }
    sentinels.append(sentinel)
    guard rest.isEmpty else {
      let next = rest.removeFirst()
      asked = next
      return .ask(next)
    }
    let failure = isNameUnknown ? Failure.unknownName : .noAnswer
    (asked, endedAt, self.failure) = (nil, now, failure)
    failures += 1
    return outcome(of: failure)
  }

  /// With all Sentinels away nobody promotes another master, so the last one is tried. Its own answer says if
  /// it is one.
  private func outcome(of failure: Failure) -> Action {
    if failure == .noAnswer, let master { return .found(master) }
    return .fail(failure)
  }

  /// The time for which the last round's result is good.
  private var patience: Duration {
    failure == nil ? Self.answerAge : backoff.delay(doublings: failures - 1, random: 0)
  }

  /// Forgets Sentinels that are neither configured nor known to the one that answered.
  private mutating func learn(_ others: [Address], from sentinel: Address) {
    let known = Set(configured + others)
    let kept = [sentinel] + sentinels.filter { $0 != sentinel && known.contains($0) }
    var added = Set(kept)
    let room = max(Self.sentinelsMax - kept.count, 0)
    sentinels = kept + others.filter { added.insert($0).inserted }.prefix(room)
  }
}
