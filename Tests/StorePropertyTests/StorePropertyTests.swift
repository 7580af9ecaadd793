import BelfryModel
import BelfryStore
import Glibc
import ModelSamples
import TestKit
import Testing

/// Random walks over two stores that must not differ.
@Suite(.serialized)
struct StorePropertyTests {
  @Test(
    arguments: TestEnvironment.runs(
      of: "StorePropertyTests/redisAgreesWithMemory", count: TestEnvironment.steps(or: 800)))
  func redisAgreesWithMemory(run: SeededRun) async throws {
    let report = try await withRedisWorlds { await $0.disagreement(run) }
    if let report { Issue.record("\(report)") }
  }

  /// Sends of one name take a call of Redis each, between which a broker may die, unless they go by the function of all
  /// commits.
  @Test(arguments: [false, true], 0..<5)
  func aBrokerDiesBetweenSendsOfOneName(isByCommit: Bool, writes: Int) async throws {
    let sends = ["a", "a", nil, "a", "b"].map {
      SendStep(by: 1, server: 0, clientId: $0, body: "same", isPersisted: true)
    }
    let death = Step.death(.batch(sends), writes: writes)
    let steps: [Step] = [
      .createServer(0, owner: 1), isByCommit ? .byCommit(death) : death, .send(sends[3]), .relay,
    ]
    let divergence = try await withRedisWorlds { await $0.divergence(steps) }
    #expect(divergence == nil, "\(divergence.map(\.description) ?? "")")
  }

  /// On a busy machine any time may pass within a step.
  @Test func whatExpiresSoonIsSentBefore() async throws {
    let memory = MemoryStore(limits: Cast.limits)
    let world = try await World(
      RushingStore(memory), MemoryLiveFeed(memory), cast: Cast(),
      makeMortal: {
        MortalMemory(RushingStore(memory), memory, writes: $0, usesSendFunctions: $1, fault: nil)
      })
    let send = SendStep(by: 1, server: 0, body: "soon", isPersisted: true, expiry: .soon)
    let steps: [Step] = [
      .createServer(0, owner: 1), .send(send), .batch([send, send]), .death(.send(send), writes: 1),
    ]
    var said: [String] = []
    for number in steps.indices { said.append(try await world.perform(steps[number], number: number)) }
    #expect(said[1...].allSatisfy { $0.contains("appended 1") && !$0.contains("invalidField") }, "\(said)")
  }

  /// Two oracles whose clocks run differently: a store's answers must not depend on the time. In one of them
  /// many steps share a millisecond, as on a fast machine.
  @Test func memoryAgreesWithItselfWhateverTheClock() async {
    let trace = Trace(
      makeLeft: Trace.memory(tickMilliseconds: 3),
      makeRight: Trace.memory(startMilliseconds: 1_800_000_000_000, tickMilliseconds: 1, stepsPerTick: 10))
    let steps = TestEnvironment.steps(or: 800)
    let report = await trace.disagreement(seed: TestEnvironment.seed, steps: steps)
    if let report { Issue.record("\(report)") }
  }

  @Test(arguments: FaultyStore.Fault.allCases)
  func aWalkFindsTheFault(fault: FaultyStore.Fault) async throws {
    #expect(try await Self.found(fault) != nil, "\(fault) went unnoticed")
  }

  /// A few of the faults will do: one that an answer shows, others that show in feeds, in what is heard, or
  /// only after a broker has died.
  @Test(arguments: [
    FaultyStore.Fault.countsAllKindsAlike, .joinsTooEarly, .publishesNoMemberships, .leavesNothingToRelay,
  ])
  func whatAWalkFindsIsShownInFewSteps(fault: FaultyStore.Fault) async throws {
    let found = try #require(try await Self.found(fault))
    let few = await Self.trace(fault).shrunk(found)
    #expect(few.count < 20, "\(fault) could be shown in fewer steps: \(few)")
  }

  /// The steps that lead to where the fault shows. The seeds are fixed: whether it does within so many steps
  /// is then no matter of luck.
  private static func found(_ fault: FaultyStore.Fault) async throws -> [Step]? {
    for seed in transcripts.seeds {
      let steps = Trace.steps(seed: seed)
      let known = try await transcripts.of(seed)
      if let found = await trace(fault).divergence(steps, compareEvery: Trace.interval, known: known) {
        return Array(steps[...found.step])
      }
    }
    return nil
  }

  private static func trace(_ fault: FaultyStore.Fault? = nil) -> Trace {
    Trace(
      makeLeft: Trace.memory(tickMilliseconds: 1), makeRight: Trace.memory(tickMilliseconds: 1, fault: fault))
  }

  private static let transcripts = Transcripts { trace() }

  /// A random walk that never comes to a rule says nothing about it.
  @Test(arguments: [
    "appended 1", "nothing to do", "duplicate of #", "duplicateContent", "different content", "conflict",
    "ceiling of roster", "ceiling of channels", "tooMany", "forbidden", "notMember", "notFound toAccids",
    "notFound serverId", "added [", "read 1", "read 2", "rewound",
    "to all channel:", "to all roster:", "to subscribed:", "to subscribed channel:", "to subscribed roster:",
    "to named +", "to named roster:", "direct:", "updated: {", "former", "is out of server:", "is in direct:",
    "updates #", ": recalled", "hidden, recalled", "hidden, expired", "hidden, notWanted", "prefers [{",
    " until a time",
    "invalidField expireAt",
    "seen, openToAll", "seen, subscribedBefore", "seen, named", "hidden, joinedAfter",
    "hidden, leftBefore", "hidden, leftSince", "hidden, leftOut", "hidden, notNamed", "hidden, notInChannel",
    "hidden, notSubscribed", "hidden, subscribedAfter", "hidden, subscriptionEndedBefore", "hidden, read",
    "appended after none", "appended after #", " ephemeral", " updated", "memberships of [", "said 0: index",
    "said 0: read [", "up to watermarks on none",
    "to willing", "hidden, stopped", "hidden, blocked", "is in group:", "is in room:",
    "is out of group:", "is out of room:", " did group mute to ", " did room ", " did server ", "codes ",
    "requests ", "banned ", "profiles ", "muted ", "allowed ", "files ", "hands ", "presence ", "blocked:",
    "listed in groups: [\"group", "listed in rooms: [\"room", "is due", "is due long after",
    "postponed room:",
    "refused: mailboxFull toAccids", "has 3 from a", "refused: blocked toAccids", "refused: blocked accids",
    "refused: muted", "refused: banned", "chose {",
    "died: appended", "died: refused: unknownOutcome", "died: not all relayed", "swept to the end",
    "died: refused: unknownOutcome ; again: appended 1",
    "died: refused: unknownOutcome ; again: duplicate of #",
    "relayed [", "has something to relay",
  ])
  func aWalkComesTo(words: String) async throws {
    var isThere = false
    for seed in Self.transcripts.seeds where !isThere {
      // Foundation's search took a tenth of the time of this suite.
      isThere = unsafe strstr(try await Self.transcripts.text(of: seed), words) != nil
    }
    #expect(isThere)
  }

  /// An invited account that has not looked yet: a rewind must not go beyond events that nobody was told of.
  @Test func aRewindReadsNothing() async throws {
    let group = CommandStep(
      command: CreateGroup.name.description, space: 0, channel: 0, by: .anybody(0), account: 0, others: [1],
      isApt: true, isOn: true, choice: 0, text: "")
    let send = SendStep(by: 1, accounts: [1], body: "seen", isPersisted: true)
    let steps: [Step] = [.command(group), .send(send), .rewind(1)]
    let world = try await Trace.memory(tickMilliseconds: 1)(Cast())
    var said: [String] = []
    for number in steps.indices { said += try await world.said(steps, number, compareEvery: steps.count) }
    #expect(said.contains("a1 has read []"))
  }

  /// Every operation of the model is among the steps: by a row of a table, or, the oldest, by one of its own.
  @Test func everyOperationIsTaken() {
    let operations = Operations.servers + Operations.channels + Operations.groups + Operations.rooms
    let own = [
      RemoveServer.name, AddMembers.name, KickMembers.name, LeaveServer.name, SetSubscription.name,
      CreateChannel.name, UpdateChannel.name, RemoveChannel.name,
    ]
    let taken = Set(Command.all.map(\.name) + own.map(\.description))
    #expect(Set(operations.map { $0.name.description }).subtracting(taken) == [])
  }
}

/// All that the oracle says on a few random walks, the same ones each time. It walks one when that is asked for first.
private actor Transcripts {
  nonisolated let seeds: [UInt64] = [3, 4, 0, 1, 2] + Array(5..<16)
  private let trace: @Sendable () -> Trace
  private var known: [UInt64: Transcript] = [:]
  private var texts: [UInt64: String] = [:]

  init(_ trace: @escaping @Sendable () -> Trace) { self.trace = trace }

  func of(_ seed: UInt64) async throws -> Transcript {
    if let known = known[seed] { return known }
    let transcript = try await trace().transcript(seed: seed)
    known[seed] = transcript
    return transcript
  }

  func text(of seed: UInt64) async throws -> String {
    if let text = texts[seed] { return text }
    let text = try await of(seed).joined().joined(separator: "\n")
    texts[seed] = text
    return text
  }
}

/// A store in which each look at the clock takes a minute.
private final class RushingStore: ForwardingStore {
  private let memory: MemoryStore

  init(_ memory: MemoryStore) {
    self.memory = memory
    super.init(memory)
  }

  override func nowMilliseconds() async throws(StoreError) -> Int64 {
    memory.clockMilliseconds += 60_000
    return memory.clockMilliseconds
  }
}
