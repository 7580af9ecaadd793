import BelfryFeed
import BelfryLoop
import BelfryModel
import BelfryServer
import BelfryStore
import CallCounts
import ModelSamples
import TestKit
import Testing

@testable import BelfryLive

/// The cost of one notification for each of many consumers, counted and never timed.
@Suite struct FanOutTests {
  /// However many entries have arrived, a consumer's next pull has them all, as far as there is room: each pull
  /// is one write to its socket (`StreamTests.aPullIsOneWrite`).
  @Test func whatCameTogetherIsPulledAtOnce() async throws {
    let pulls = try await onHall { hall in
      let audience = try await hall.open(3)
      try await hall.send(16)
      try await hall.arrive(16)
      return audience.map { hall.pull($0) }
    }
    for pull in pulls {
      #expect(pull.events == 16)
      #expect(pull.next == .wait)
    }
  }

  /// A consumer may be pulled for an entry that it was told of in one server before it is told of another. An
  /// entry that arrived earlier in the other must not be left behind: entries that have been passed are never
  /// looked for again.
  @Test func nothingIsLeftBehindInAServerThatItWasNotToldOf() async throws {
    let pulls = try await onHall { hall in
      let consumer = try await hall.open(1)[0]
      try await hall.send(1)
      try await hall.arrive(1)
      // Told of the first server only, when both have something new.
      try await hall.send(1, to: 1)
      try await hall.send(1)
      hall.arriveUnnotified(2)
      let before = hall.pull(consumer)
      try await hall.arrive(0)
      return [before, hall.pull(consumer)]
    }
    #expect(pulls.map(\.events) == [3, 0])
  }

  /// Thousands who join a large server are announced to themselves, and must not wake all others each time.
  @Test func whatNamesOneWakesNobodyElse() async throws {
    let (wakes, pulls) = try await onHall { hall in
      let consumers = try await hall.open(3)
      let bells = consumers.map { _ in Bell() }
      for (consumer, bell) in zip(consumers, bells) { consumer.outlet = bell }
      try await hall.send(5, naming: [consumers[0].account])
      try await hall.arrive(5)
      let named = bells.map(\.wakes)
      try await hall.send(1)
      try await hall.arrive(1)
      return ([named, bells.map(\.wakes)], consumers.map { hall.pull($0) })
    }
    #expect(wakes == [[1, 0, 0], [1, 1, 1]])
    #expect(pulls.map(\.events) == [6, 1, 1])
  }

  /// A ring forgets what names others, and a consumer that has not been woken for it has missed nothing.
  @Test func whatARingForgetsOfOthersIsNotMissed() async throws {
    let (events, scans) = try await onHall { hall in
      let consumers = try await hall.open(2)
      let before = hall.scans
      var events = [0, 0]
      // More than a ring holds.
      for _ in 0..<60 {
        try await hall.send(10, naming: [consumers[0].account])
        try await hall.arrive(10)
        events[0] += hall.pull(consumers[0]).events
      }
      try await hall.send(1)
      try await hall.arrive(1)
      for (place, consumer) in consumers.enumerated() { events[place] += hall.pull(consumer).events }
      return (events, hall.scans - before)
    }
    #expect(events == [601, 1])
    #expect(scans == 0)
  }

  /// A consumer that has not taken what names it, and whose ring has forgotten that, reads it from the store.
  @Test func whatARingForgetsOfOnesOwnIsReadFromTheStore() async throws {
    let events = try await onHall { hall in
      let consumer = try await hall.open(2)[0]
      try await hall.send(600, naming: [consumer.account])
      try await hall.arrive(600)
      var events = 0
      try await eventually {
        events += hall.pull(consumer).events
        return events >= 600
      }
      return events
    }
    #expect(events == 600)
  }

  /// A cursor that stays behind in a partition where everything is for others would count as having missed what is trimmed
  /// there.
  @Test func aHeartbeatPassesWhatIsForOthers() async throws {
    let places = try await onHall { hall in
      let consumers = try await hall.open(2)
      try await hall.send(3, naming: [consumers[0].account])
      try await hall.arrive(3)
      _ = hall.pull(consumers[0])
      for consumer in consumers { consumer.beat() }
      // Not what was not taken yet.
      try await hall.send(1, naming: [consumers[0].account])
      try await hall.arrive(1)
      for consumer in consumers { consumer.beat() }
      return consumers.map { hall.distance(of: $0) }
    }
    #expect(places == [1, 0])
  }

  /// However many spaces there are, rings take no more memory together than they may. Consumers read from the store what
  /// was forgotten before they took it.
  @Test func ringsHaveOneLimitTogether() async throws {
    let (events, most, few) = try await onHall { hall in
      let consumer = try await hall.open(1)[0]
      hall.hub.ringBytesMost = 64 * 1_024
      var most = 0
      for number in 0..<500 {
        try await hall.send(1, to: number % 2)
        try await hall.arrive(1)
        most = max(most, hall.hub.ringBytes)
      }
      var events = 0
      try await eventually {
        events += hall.pull(consumer).events
        return events >= 500
      }
      consumer.close()
      return (events, most, hall.hub.ringBytes)
    }
    #expect(events == 500)
    #expect((32 * 1_024...64 * 1_024).contains(most))
    #expect(few == 0)
  }

  /// A notification is rendered once for all its receivers. One more consumer costs a bounded number of
  /// allocations, its id line included, for any content of the notification.
  @Test(.enabled(if: allocations_are_counted()))
  func aConsumerMoreCostsFewAllocations() async throws {
    let (few, many) = try await onHall { hall in
      (try await hall.allocations(delivering: 4, to: 10), try await hall.allocations(delivering: 4, to: 60))
    }
    let each = Double(Int(many) - Int(few)) / Double(4 * 50)
    // Just what a debug build makes, which puts into boxes what the optimizer keeps on the stack. A build for
    // release makes none (`scripts/count-instructions bursts`).
    #expect(each <= 21, "\(each) allocations a delivery")
  }

  private func onHall<Value: Sendable>(
    _ work: @escaping @Sendable (Hall) async throws -> Value
  ) async throws -> Value {
    try await withLoop { loop, scope in try await work(try await Hall(loop: loop, scope: scope)) }
  }
}

/// Counts how often a consumer has something to send.
private final class Bell: Consumer.Outlet {
  private(set) var wakes = 0
  func consumerIsReady() { wakes += 1 }
  func consumerBeats() {}
}

/// A server with many members, whose consumers are all live before anything is sent.
private final class Hall {
  struct Pull: Sendable {
    var events: Int
    var next: Consumer.Pull
  }

  private let live: SlowLiveFeed
  private let loop: EventLoop
  private let memory: MemoryStore
  let hub: Hub
  private let runner: OperationRunner
  /// Both of one partition.
  private let servers: [EntityID]
  private let app = Actor(account: nil, isTrusted: true)
  private var accounts = 0
  private var sends = 0
  private var room = [UInt8](repeating: 0, count: 64 * 1_024)

  init(loop: EventLoop, scope: LoopScope) async throws {
    self.loop = loop
    memory = MemoryStore(limits: Limits())
    live = SlowLiveFeed(memory, on: loop)
    let store = SlowStore(memory, Chance(seed: 1), on: loop)
    hub = Hub(loop: loop, scope: scope, store: store, live: live, limits: Limits())
    runner = OperationRunner(store: store, limits: Limits())
    servers = Array(SpaceID.server(14).partition.servers.prefix(2))
    let owner: AccountID = "owner"
    for (number, server) in servers.enumerated() {
      _ = try await runner.run(
        CreateServer(
          id: server, defaultChannel: EntityID(bits: 100_000 + UInt64(number)), owner: owner,
          actor: Actor(account: owner), name: "s"))
    }
  }

  func open(_ count: Int) async throws -> [Consumer] {
    let newcomers = (0..<count).compactMap { AccountID("m\(accounts + $0)") }
    accounts += count
    for server in servers {
      _ = try await runner.run(AddMembers(server, actor: app, accounts: newcomers, requestId: "r"))
    }
    for partition in memory.partitionsToRelay() { memory.relayOutbox(of: partition) }
    try await arrive(.max)
    let consumers = try newcomers.map { account in
      try hub.openConsumer(
        account: account, device: nil, after: nil, expiresAtMilliseconds: .max,
        framing: ServerSentEvents.framing)
    }
    // Live is who is given at once what has just arrived, with nothing left from before.
    var areLive = false
    while !areLive {
      try await loop.sleep(for: .milliseconds(1))
      for consumer in consumers { _ = pull(consumer) }
      try await send(1)
      try await arrive(.max)
      areLive = consumers.map { pull($0).events == 1 }.allSatisfy(\.self)
    }
    return consumers
  }

  /// The consumers are notified at the end of the loop's turn.
  func arrive(_ count: Int) async throws {
    arriveUnnotified(count)
    try await loop.sleep(for: .zero)
  }

  func arriveUnnotified(_ count: Int) { live.arrive(atMost: count) }

  func send(_ count: Int, to server: Int = 0, naming accounts: [AccountID] = []) async throws {
    for _ in 0..<count {
      sends += 1
      var content = NotificationContent(type: 100, toType: .server)
      content.body = "\(sends)"
      content.serverId = servers[server]
      if !accounts.isEmpty { content.toAccids = accounts }
      for send in try SendNotification.sends(content, by: app, generatedClientId: "c\(sends)") {
        _ = try await runner.run(send)
      }
    }
  }

  /// The allocations on the loop's thread, from a notification's arrival until the last of so many consumers
  /// has pulled it.
  func allocations(delivering count: Int, to consumers: Int) async throws -> UInt64 {
    let audience = try await open(consumers)
    defer { for consumer in audience { consumer.close() } }
    // The first delivery makes room that the others use.
    try await send(count + 1)
    try await arrive(1)
    for consumer in audience { #expect(pull(consumer).events == 1) }
    let before = count_of_allocations()
    var events = 0
    for _ in 0..<count {
      try await arrive(1)
      for consumer in audience { events += pull(consumer).events }
    }
    let allocations = count_of_allocations() - before
    #expect(events == count * consumers)
    return allocations
  }

  var scans: Int { hub.statistics.scans }

  /// How many entries of the first server lie beyond the consumer's cursor.
  func distance(of consumer: Consumer) -> Int {
    let space = SpaceID.server(servers[0])
    let place = consumer.output.cursor.position(in: space, memory.partitions)
    return (try? memory.entries([LogRequest(space, after: place, through: .last, limit: 100)])[0].count) ?? -1
  }

  /// Everything there is, and what the pull after that says.
  func pull(_ consumer: Consumer) -> Pull {
    unsafe room.withUnsafeMutableBytes { room in
      var buffer = unsafe StreamBuffer(room)
      _ = consumer.pull(into: &buffer)
      let events = unsafe Self.events(in: UnsafeRawBufferPointer(rebasing: room[..<buffer.count]))
      var rest = unsafe StreamBuffer(UnsafeMutableRawBufferPointer(rebasing: room[buffer.count...]))
      return Pull(events: events, next: consumer.pull(into: &rest))
    }
  }

  /// Events with a cursor: `id` begins a line in no other.
  private static func events(in bytes: UnsafeRawBufferPointer) -> Int {
    var count = 0
    var start = true
    for index in 0..<bytes.count {
      if start, unsafe bytes[index] == UInt8(ascii: "i") { count += 1 }
      start = unsafe bytes[index] == UInt8(ascii: "\n")
    }
    return count
  }
}
