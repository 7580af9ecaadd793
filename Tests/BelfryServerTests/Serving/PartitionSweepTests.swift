import BelfryLoop
import BelfryModel
import BelfryRedis
import BelfryStore
import BelfrySystem
import ModelSamples
import TestKit
import Testing

@testable import BelfryServer

private let space = SpaceID.server(77)

private final class LastDoubt {
  var doubt: ClockDoubt?
}

/// A loop that sweeps a keyspace of its own.
private actor SweepingBroker {
  nonisolated let loop: EventLoop
  let store: RedisStore
  private let brokerOffset: @Sendable () -> Int64
  private let last = LastDoubt()
  private lazy var sweep = PartitionSweep(
    loop: loop, store: store, limits: Limits(),
    brokerMilliseconds: { [brokerOffset] in WallClock.nowMilliseconds() + brokerOffset() },
    report: { [last] in last.doubt = $0 })

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  /// - Parameter brokerOffset: milliseconds by which the broker's own clock is ahead.
  init(on loop: EventLoop, _ endpoint: RedisEndpoint, brokerOffset: @escaping @Sendable () -> Int64) {
    self.loop = loop
    self.brokerOffset = brokerOffset
    store = RedisStore(loop: loop, endpoint: endpoint, limits: Limits(), redisLimits: .patient)
  }

  func start() { store.start() }
  func close() { store.close() }

  func sweepOnce() async throws -> ClockDoubt? {
    try await sweep.sweepDuePartitions()
    return last.doubt
  }

  func beginCopies() async throws {
    #expect(try await store.addWebhook(9, "{}", countMax: 1, version: "1"))
  }

  func append(_ body: String) async throws {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    content.body = body
    var transaction = Transaction(space)
    transaction.announcements = [Announcement(content, to: Audience(.all))]
    _ = try await store.commit(transaction)
  }

  var bodies: [String] {
    get async throws {
      let entries = try await store.entries([LogRequest(space, after: .zero, limit: 1_000)])[0]
      return entries.map { RecordJSON.value(NotificationContent.self, $0.contentJSON)?.body ?? "" }
    }
  }

  var copies: Int {
    get async throws {
      try await store.copies(in: store.partitions.holding(space), after: .zero, limit: 1_000).count
    }
  }
}

@Suite struct PartitionSweepTests {
  /// - Parameter isOfBoth: true if the broker's clock steps too, as on one machine.
  @Test(arguments: [true, false])
  func aClockThatStepsForwardForAMinuteLosesNothing(isOfBoth: Bool) async throws {
    let clock = try await ShiftedClock()
    var options = RedisServer.Options()
    options.clock = clock
    // Redis trims by whole nodes, so each entry has one of its own.
    options.settings["stream-node-max-entries"] = "1"
    try await withRedisServer(options) { redis in
      try await withLoop { loop in
        let broker = SweepingBroker(on: loop, try RedisEndpoint(url: redis.url)) {
          isOfBoth ? clock.offsetSeconds * 1_000 : 0
        }
        await broker.start()
        try await broker.beginCopies()
        try await broker.append("before")
        #expect(try await broker.sweepOnce() == nil)
        try clock.step(bySeconds: 8 * 86_400)
        try await broker.append("during")
        let doubt = try await broker.sweepOnce()
        #expect(doubt?.reason == (isOfBoth ? "ahead" : "apart"))
        try await broker.append("during, after the sweep")
        try clock.step(bySeconds: -8 * 86_400)
        #expect(try await broker.sweepOnce() == nil)
        #expect(try await broker.bodies == ["before", "during", "during, after the sweep"])
        #expect(try await broker.copies == 3)
        await broker.close()
      }
    }
  }
}
