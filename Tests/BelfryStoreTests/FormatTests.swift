import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// The format record of a keyspace, and the brokers that may work on it.
@Suite struct FormatTests {
  @Test func theFirstBrokerWritesIt() async throws {
    try await withBroker { broker, redis in
      try await broker.store.compareFormat()
      #expect(try redis.command("HGET", RedisLayout.format, "format") == "3 64")
      #expect(try redis.command("HGET", RedisLayout.format, "secret") == "")
      let limits = try redis.command("HGET", RedisLayout.format, "limits")
      #expect(RecordJSON.value(Limits.self, limits) == Limits())
      #expect(try redis.command("HLEN", RedisLayout.format) == "4")
    }
  }

  @Test(arguments: [
    (
      "3 16",
      "this keyspace has 16 partitions, and this broker was started with 64: start it with --partitions 16"
    ),
    (
      "3 1",
      "this keyspace has 1 partition, and this broker was started with 64: start it with --partitions 1"
    ),
    (
      "4 64",
      "this keyspace has data of version 4, and this broker reads version 3: "
        + "start a release of Belfry that reads version 4"
    ),
    (
      "2 64",
      "this keyspace has data of version 2, and this broker reads version 3: "
        + "start a release of Belfry that reads version 2"
    ),
    (
      "4 64 of a form to come",
      "this keyspace has data of version 4, and this broker reads version 3: "
        + "start a release of Belfry that reads version 4"
    ),
    (
      "moving 3 64 a1 1795238998540 redis://node-1:7001",
      "this keyspace is being moved to redis://node-1:7001: wait until belfry move ends"
    ),
    (
      "moved 3 64 a1 1795238998540 redis://node-1:7001",
      "this keyspace was moved to redis://node-1:7001: start brokers with the new address"
    ),
    (
      "arriving 3 64 a1 1795238998540 redis://old:6379",
      "this keyspace is being moved here from redis://old:6379, and is not complete"
    ),
    (
      "cancelled 3 64 a1 1795238998540 redis://old:6379",
      "this Redis has copies left by a cancelled move from redis://old:6379: "
    ),
    ("moving 3 64", "this keyspace's format record says \"moving 3 64\", which no broker writes: "),
    ("3 63", "this keyspace's format record says \"3 63\", which no broker writes: "),
    ("3 64 64", "this keyspace's format record says \"3 64 64\", which no broker writes: "),
    ("", "this keyspace's format record says \"\", which no broker writes: "),
    ("sixty-four", "this keyspace's format record says \"sixty-four\", which no broker writes: "),
  ])
  func anotherFormatIsRefused(format: String, words: String) async throws {
    try await withRedisServer(.debuggable) { redis in
      try redis.command("HSET", RedisLayout.format, "format", format)
      let before = try redis.digest()
      try await withBroker(of: redis) { broker in
        try await broker.eventually { $0.store.state != .connecting }
        #expect(broker.refusal?.hasPrefix(words) == true, "\(broker.store.state)")
        let error = await broker.storeError { _ = try await $0.append("ding") }
        #expect(error?.code == .unavailable)
        #expect(error?.detail.contains(words) == true, "whoever asks is told why")
      }
      #expect(try redis.digest() == before, "nothing was written")
    }
  }

  @Test(arguments: [
    (
      "this keyspace was moved to redis://node-1:7001: start brokers with the new address",
      "this keyspace was moved: start brokers with the new address"
    ),
    (
      "this keyspace is being moved here from rediss://old:6379, and is not complete: wait",
      "this keyspace is being moved here, and is not complete: wait"
    ),
    (
      "this Redis has copies left by a cancelled move from redis://old:6379: run belfry move",
      "this Redis has copies left by a cancelled move: run belfry move"
    ),
    ("this keyspace has 64 partitions", "this keyspace has 64 partitions"),
  ])
  func sendersAreToldNoAddress(words: String, told: String) {
    #expect(MoveRecord.withoutAddresses(words) == told)
  }

  @Test func dataOfWhichNobodySaysHowItIsLaidOutIsRefused() async throws {
    try await withRedisServer { redis in
      // The keyspace has another number of partitions, and its keys are among many keys of others.
      for number in 0..<50 {
        try redis.command(
          "EVAL", "for i = 1, 100 do redis.call('SET', ARGV[1] .. i, 1) end", "0", "other:\(number):")
      }
      try redis.command("HSET", "belfry:{3.7}:partition", "last", "1763700000000-12288")
      try await withBroker(of: redis) { broker in
        try await broker.eventually { $0.store.state != .connecting }
        #expect(broker.refusal == Keyspace.refusalWithoutRecord)
        try redis.command("HSET", RedisLayout.format, "format", "3 64")
        try await broker.eventually { $0.store.state == .ready }
      }
    }
  }

  @Test func whatIsOthersIsNoData() async throws {
    try await withRedisServer { redis in
      try redis.command(
        "EVAL", "for i = 1, 5000 do redis.call('SET', 'other:{1}:' .. i, 1) end return 1", "0")
      try redis.command("SET", "belfry", "a name that somebody else likes, too")
      try await withBroker(of: redis) { broker in
        try await broker.append("ding")
        #expect(try redis.command("HGET", RedisLayout.format, "format") == "3 64")
      }
    }
  }

  /// Which broker comes first is chance; that it is one of them is not.
  @Test func ofTwoThatMakeAKeyspaceAtOnceOneDecides() async throws {
    try await withBroker { broker, redis in
      // The broker's own connection has been made at this point, and writes nothing into the keyspaces of the
      // others.
      try await broker.store.compareFormat()
      for _ in 0..<20 {
        try redis.command("FLUSHALL")
        let endpoint = try RedisEndpoint(url: redis.url)
        let stores = [16, 32, 128].compactMap { Partitions(count: $0) }.map {
          RedisStore(
            loop: broker.loop, endpoint: endpoint, limits: Limits(), partitions: $0, redisLimits: .patient)
        }
        for store in stores { store.start() }
        try await TestKit.eventually { stores.allSatisfy { $0.state != .connecting } }
        let serving = stores.filter { $0.state == .ready }
        #expect(serving.count == 1)
        for store in stores {
          #expect(store.state == .ready || store.refusal?.contains("start it with") == true)
        }
        #expect(
          try redis.command("HGET", RedisLayout.format, "format")
            == "\(Keyspace.dataVersion) \(serving.first?.partitions.count ?? 0)")
        for store in stores { store.close() }
      }
    }
  }

  /// Step by step, since what another broker does in between is otherwise chance.
  @Test func aKeyspaceThatIsMadeMeanwhileIsNoDataWithoutRecord() async throws {
    try await withRedisServer { redis in
      try redis.command("HSET", "belfry:{3.7}:partition", "last", "1763700000000-12288")
      try await withBroker(of: redis) { broker in
        let check = FormatCheck(
          Keyspace(partitions: .standard, secretFingerprint: "", limits: Limits()), adopts: false, at: "here")
        let connection = RedisConnection(
          loop: broker.loop, endpoint: try RedisEndpoint(url: redis.url), limits: .patient)
        connection.start()
        let look = check.setUp(isOfCluster: false, then: RedisSetUp([]))
        let scan = try #require(try look.next(await connection.sendPipeline(look.commands)))
        let again = try #require(try scan.next(await connection.sendPipeline(scan.commands)))
        try redis.command(
          "HSET", RedisLayout.format, "format", "3 64", "secret", "", "limits", "{}", RedisLayout.hashesField,
          PartitionHashes.made)
        let end = try again.next(await connection.sendPipeline(again.commands))
        #expect(end?.commands == [], "the functions are next, and not a refusal")
        connection.close()
      }
    }
  }

  // MARK: Settings

  @Test func otherSettingsAreNamedWithBothValues() async throws {
    try await withBroker { broker, redis in
      try await broker.store.compareFormat()
      var limits = Limits()
      limits.entriesPerSpace = 500
      limits.retentionMilliseconds = 10_000
      let found = try await broker.settings(limits, secret: "mine", at: redis)
      #expect(
        found == [
          .differ([
            SettingDifference(setting: "secret", here: "one", keyspace: "another"),
            SettingDifference(setting: "limits.entriesPerSpace", here: "500", keyspace: "100000"),
            SettingDifference(setting: "limits.retentionMilliseconds", here: "10000", keyspace: "604800000"),
          ])
        ])
      #expect(try await broker.settings(Limits(), secret: "", at: redis) == [.differ([])])
      // The record is of another release, which has one limit more and one less.
      try redis.command("HSET", RedisLayout.format, "limits", #"{"entriesPerSpace":100000,"cables":3}"#)
      #expect(try await broker.settings(Limits(), secret: "", at: redis) == [.differ([])])
      try redis.command("HSET", RedisLayout.format, "limits", "{")
      #expect(
        try await broker.settings(Limits(), secret: "", at: redis) == [
          .differ([SettingDifference(setting: "limits", here: "readable", keyspace: "unreadable")])
        ])
    }
  }

  @Test func settingsAreAdoptedOnceAndOnlyWhereThatIsWanted() async throws {
    try await withBroker { broker, redis in
      try await broker.store.compareFormat()
      var limits = Limits()
      limits.entriesPerSpace = 500
      let difference = SettingDifference(
        setting: "limits.entriesPerSpace", here: "500", keyspace: "100000")
      let endpoint = try RedisEndpoint(url: redis.url)
      var found: [SettingsFinding] = []
      let store = RedisStore(
        loop: broker.loop, endpoint: endpoint, limits: limits, adoptsSettings: true, redisLimits: .patient)
      store.onSettings = { found.append($0) }
      store.start()
      try await TestKit.eventually { store.state == .ready }
      #expect(found == [.adopted([difference])])
      let others = SettingDifference(setting: "limits.entriesPerSpace", here: "100000", keyspace: "500")
      let seen = try await broker.lookAgain()
      #expect(seen == [.differ([others])], "the other broker learns of it without a new connection")

      // Another one is told the opposite, later. The first does not overrule it when it connects again.
      let second = RedisStore(
        loop: broker.loop, endpoint: endpoint, limits: Limits(), adoptsSettings: true, redisLimits: .patient)
      second.start()
      try await TestKit.eventually { second.state == .ready }
      try redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
      try await TestKit.eventually { found.count == 2 }
      #expect(found.last == .differ([difference]))
      second.close()
      store.close()
    }
  }

  @Test func whatCannotBeWrittenIsNotAdoptedAndServes() async throws {
    try await withBroker { broker, redis in
      try await broker.store.compareFormat()
      try redis.command("CONFIG", "SET", "maxmemory", "1")
      var limits = Limits()
      limits.entriesPerSpace = 500
      let difference = SettingDifference(
        setting: "limits.entriesPerSpace", here: "500", keyspace: "100000")
      var found: [SettingsFinding] = []
      let store = RedisStore(
        loop: broker.loop, endpoint: try RedisEndpoint(url: redis.url), limits: limits, adoptsSettings: true,
        redisLimits: .patient)
      store.onSettings = { found.append($0) }
      store.start()
      try await TestKit.eventually { store.state == .ready }
      guard case .notAdopted([difference], cause: let cause)? = found.first, found.count == 1 else {
        Issue.record("\(found)")
        return
      }
      #expect(cause.hasPrefix("OOM "))

      // It tries again whenever it compares the record.
      do throws(StoreError) {
        try await store.compareFormat()
        Issue.record("it was written")
      } catch {
        #expect(error.code == .memoryFull)
      }
      try redis.command("CONFIG", "SET", "maxmemory", "0")
      try await store.compareFormat()
      #expect(found.dropFirst() == [.adopted([difference])])
      try await store.compareFormat()
      #expect(found.last == .differ([]))
      store.close()
    }
  }

  // MARK: While a broker runs

  /// The data of a Redis that comes back empty is lost. An operator has to learn of it before producers fill a new keyspace.
  @Test func aKeyspaceThatIsGoneIsTold() async throws {
    try await withBroker { broker, redis in
      var found: [SettingsFinding] = []
      let store = RedisStore(
        loop: broker.loop, endpoint: try RedisEndpoint(url: redis.url), limits: Limits(),
        redisLimits: .patient)
      // The one that connects first makes the new keyspace, and the other finds it there.
      for each in [store, broker.store] { each.onSettings = { found.append($0) } }
      store.start()
      try await TestKit.eventually { store.state == .ready && broker.store.state == .ready }
      #expect(!found.contains(.gone), "a first start is no loss")
      try redis.transaction(["FLUSHALL"], ["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"])
      try await TestKit.eventually { found.contains(.gone) }
      store.close()
    }
  }

  @Test func aKeyspaceThatIsReplacedIsLeftAloneAndReturnedTo() async throws {
    try await withBroker { broker, redis in
      try await broker.append("ding")
      try redis.command("HSET", RedisLayout.format, "format", "3 16")
      let error = await broker.storeError { try await $0.store.compareFormat() }
      #expect(error?.code == .unavailable)
      try await broker.eventually { $0.refusal?.contains("--partitions 16") == true }
      #expect(await broker.storeError { try await $0.append("dong") }?.code == .unavailable)
      try redis.command("HSET", RedisLayout.format, "format", "3 64")
      try await broker.eventually { $0.store.state == .ready }
      #expect(try await broker.log().count == 1)
    }
  }

  @Test func aRecordThatIsRemovedIsWrittenAgain() async throws {
    try await withBroker { broker, redis in
      try await broker.append("ding")
      var found: [SettingsFinding] = []
      broker.store.onSettings = { found.append($0) }
      try await broker.store.compareFormat()
      #expect(!found.contains(.recordRemoved))
      try redis.command("DEL", RedisLayout.format)
      try await broker.store.compareFormat()
      #expect(found.contains(.recordRemoved))
      #expect(try redis.command("HGET", RedisLayout.format, "format") == "3 64")
      #expect(broker.store.state == .ready)
    }
  }
}

extension RedisStore {
  fileprivate var refusal: String? {
    if case .lost(let error) = state, error.code == .unsuitable { error.cause } else { nil }
  }
}

extension Broker {
  fileprivate var refusal: String? { store.refusal }

  /// The findings of this broker's store about its settings when it looks.
  fileprivate func lookAgain() async throws -> [SettingsFinding] {
    var found: [SettingsFinding] = []
    store.onSettings = { found.append($0) }
    try await store.compareFormat()
    store.onSettings = nil
    return found
  }

  /// The findings that a broker with such settings is told when it starts.
  fileprivate func settings(
    _ limits: Limits, secret: String, adopts: Bool = false, at redis: RedisServer
  ) async throws -> [SettingsFinding] {
    var found: [SettingsFinding] = []
    let other = RedisStore(
      loop: loop, endpoint: try RedisEndpoint(url: redis.url), limits: limits, secretFingerprint: secret,
      adoptsSettings: adopts, redisLimits: .patient)
    other.onSettings = { found.append($0) }
    other.start()
    try await TestKit.eventually { other.state == .ready }
    other.close()
    return found
  }
}
