import BelfryLoop
import BelfryModel
import BelfryRedis
import BelfryStore
import ModelSamples
import TestKit
import Testing

@testable import BelfryServer

/// One of several brokers that share a redis-server. Each has its own loop, store and clock.
private actor TimedBroker {
  nonisolated let loop: EventLoop
  let store: RedisStore
  let timer: RoomTimer

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop, _ endpoint: RedisEndpoint, _ limits: Limits) {
    self.loop = loop
    store = RedisStore(loop: loop, endpoint: endpoint, limits: limits, redisLimits: .patient)
    timer = RoomTimer(OperationRunner(store: store, limits: limits))
  }

  func start() { store.start() }
  func close() { store.close() }

  /// With an absence of zero, an attendee is absent as soon as it enters, so tests need not wait.
  func run(_ operation: some Operation, absenceMilliseconds: Int64 = Limits().absenceMilliseconds)
    async throws
  {
    var limits = Limits()
    limits.absenceMilliseconds = absenceMilliseconds
    _ = try await OperationRunner(store: store, limits: limits).run(operation)
  }

  func checkDueRooms() async throws { try await timer.checkDueRooms() }

  func records(_ table: RecordTable, of room: SpaceID) async throws -> [String] {
    try await store.page(of: TableAddress(room, table), after: nil, limit: 1_000).records.map(\.field)
      .sorted()
  }

  /// The types announced in the room, one by one.
  func announced(in room: SpaceID) async throws -> [String] {
    let entries = try await store.entries([LogRequest(room, after: .zero, limit: 1_000)])[0]
    return entries.compactMap { entry in
      guard let content = RecordJSON.value(NotificationContent.self, entry.contentJSON) else { return nil }
      guard case .object(let attach)? = content.attach, case .string(let accid)? = attach["accid"],
        case .string(let reason)? = attach["reason"]
      else { return "\(content.type)" }
      return "\(content.type) \(accid) \(reason)"
    }
  }

  /// Checks rooms until the condition holds, for as long as a busy machine may need.
  func checkDueRooms(until isDone: () async throws -> Bool) async throws {
    try await eventually(every: .milliseconds(20)) {
      if try await isDone() { return true }
      try await checkDueRooms()
      return false
    }
  }

  func roomsDueWithinAnHour() async throws -> [SpaceID] {
    let later = try await store.nowMilliseconds() + 3_600_000
    return try await store.dueSpaces(nowMilliseconds: later).spaces.map(\.space)
  }

  func spacesOf(_ account: AccountID) async throws -> [Bool] {
    try await store.index(of: account).map(\.isMember)
  }
}

/// Limits with which the timer need not wait until everybody had time for a heartbeat.
private var graceless: Limits {
  var limits = Limits()
  limits.heartbeatMilliseconds = 0
  return limits
}

private func withTimedBroker<R: Sendable>(
  of redis: RedisServer, _ limits: Limits = graceless,
  _ body: @Sendable (TimedBroker) async throws -> R
) async throws -> R {
  try await withLoop { loop in
    let broker = TimedBroker(on: loop, try RedisEndpoint(url: redis.url), limits)
    await broker.start()
    let result: Result<R, any Error>
    do { result = .success(try await body(broker)) } catch { result = .failure(error) }
    await broker.close()
    return try result.get()
  }
}

@Suite struct RoomTimerTests {
  let id: EntityID
  let room: SpaceID
  let host: AccountID
  let attendees: [AccountID]

  init() throws {
    id = 7
    room = .room(id)
    host = "hal"
    attendees = try (0..<250).map { try #require(AccountID("lea\($0)")) }
  }

  private func open(_ broker: TimedBroker, hostIsAbsent: Bool = false) async throws {
    let create = CreateRoom(id: id, host: host, actor: Actor(account: host), subject: "Bells")
    try await broker.run(create, absenceMilliseconds: hostIsAbsent ? 0 : 3_600_000)
  }

  private func enter(_ broker: TimedBroker, _ accounts: some Sequence<AccountID>) async throws {
    for account in accounts {
      try await broker.run(EnterRoom(id, actor: Actor(account: account)), absenceMilliseconds: 0)
    }
  }

  /// The broker that let them in is gone. Two others check again and again, at the same time.
  @Test func eachAbsentAttendeeIsOutOnce() async throws {
    try await withRedisServer { redis in
      try await withTimedBroker(of: redis) { broker in
        try await open(broker)
        try await enter(broker, attendees)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<2 {
          group.addTask {
            try await withTimedBroker(of: redis) { broker in
              try await broker.checkDueRooms { try await broker.records(.presence, of: room) == ["hal"] }
              try await broker.checkDueRooms()
            }
          }
        }
        try await group.waitForAll()
      }
      try await withTimedBroker(of: redis) { broker in
        let left = try await broker.announced(in: room).filter { $0.hasPrefix("402") }
        #expect(left.sorted() == attendees.map { "402 \($0) timeout" }.sorted())
        #expect(try await broker.records(.roster, of: room) == ["hal"])
        #expect(try await broker.spacesOf(attendees[0]) == [false])
      }
    }
  }

  @Test func whoIsPresentStays() async throws {
    try await withRedisServer { redis in
      try await withTimedBroker(of: redis) { broker in
        try await open(broker)
        try await enter(broker, attendees.prefix(3))
        try await broker.run(
          Heartbeat(id, actor: Actor(account: attendees[1])), absenceMilliseconds: 3_600_000)
        try await broker.checkDueRooms { try await broker.records(.presence, of: room).count < 4 }
        #expect(try await broker.records(.roster, of: room) == ["hal", "lea1"])
      }
    }
  }

  @Test func withTheHostTheRoomClosesOnceAndIsEmptied() async throws {
    try await withRedisServer { redis in
      try await withThrowingTaskGroup(of: Void.self) { group in
        try await withTimedBroker(of: redis) { broker in
          try await open(broker, hostIsAbsent: true)
          for account in attendees {
            try await broker.run(EnterRoom(id, actor: Actor(account: account)))
          }
        }
        for _ in 0..<2 {
          group.addTask {
            try await withTimedBroker(of: redis) { broker in
              try await broker.checkDueRooms { try await broker.records(.roster, of: room).isEmpty }
              try await broker.checkDueRooms()
            }
          }
        }
        try await group.waitForAll()
      }
      try await withTimedBroker(of: redis) { broker in
        let announced = try await broker.announced(in: room)
        #expect(announced == attendees.map { _ in "401" } + ["408"])
        #expect(try await broker.records(.former, of: room).count == attendees.count + 1)
        #expect(try await broker.spacesOf(host) == [false])
        // Nobody has to look at it any more.
        let due = try await broker.roomsDueWithinAnHour()
        #expect(due.isEmpty)
      }
    }
  }

  /// Its attendees would otherwise see its comings and goings until the time for a first heartbeat is over.
  @Test func aClosedRoomIsEmptiedAtOnceAfterAStart() async throws {
    try await withRedisServer { redis in
      try await withTimedBroker(of: redis, Limits()) { broker in
        try await open(broker)
        try await enter(broker, attendees.prefix(3))
        try await broker.checkDueRooms()
        #expect(try await broker.records(.roster, of: room).count == 4)
        try await broker.run(CloseRoom(id, actor: Actor(account: host)))
        try await broker.checkDueRooms()
        let roster = try await broker.records(.roster, of: room)
        #expect(roster.isEmpty)
      }
    }
  }

  /// During an outage nobody could send a heartbeat. Afterwards everybody first gets time for one.
  @Test func nobodyIsAbsentWhoCouldNotBeThere() async throws {
    try await withRedisServer { redis in
      try await withTimedBroker(of: redis, Limits()) { broker in
        try await open(broker, hostIsAbsent: true)
        try await broker.checkDueRooms()
        try await broker.checkDueRooms()
        let announced = try await broker.announced(in: room)
        #expect(announced.isEmpty)
        #expect(try await broker.records(.presence, of: room) == ["hal"])
      }
    }
  }
}
