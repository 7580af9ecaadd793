import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

@Suite struct LogReadingTests {
  @Test func aRequestHasTwoEndsAndALimit() async throws {
    try await withBroker { broker, _ in
      var ids: [MessageID] = []
      for number in 0..<6 { ids.append(try await broker.append("\(number)")) }
      let answers = try await broker.store.entries([
        LogRequest(space, after: .zero, limit: 10),
        LogRequest(space, after: ids[1], through: ids[4], limit: 10),
        LogRequest(space, after: ids[1], through: ids[4], limit: 2),
        LogRequest(space, after: ids[5], limit: 10),
        LogRequest(space, after: ids[4], through: ids[2], limit: 10),
        LogRequest(.server(1_000), after: .zero, limit: 10),
        LogRequest(space, after: .zero, limit: 0),
      ])
      #expect(
        answers.map { $0.map(\.id) } == [ids, Array(ids[2...4]), Array(ids[2...3]), [], [], [], []])
    }
  }

  /// Put there by hand perhaps. It is nobody's to see, and nothing else may be lost by it.
  @Test func whatIsNoEntryIsPassedOver() async throws {
    try await withBroker { broker, redis in
      let log = layout.log(space).text
      let first = try await broker.append("first")
      for (number, fields) in [
        ["?", "{}"], ["all", "x"], ["something", "else"], ["all", "{\"a\":\"\u{0}\"}"],
        ["all", "{}", "all", "{}"], ["updates", "x", "updateTime", "5", "all", "{}"],
        ["updateTime", "5", "updates", "1-1", "all", "{}"],
      ].enumerated() {
        try await broker.command(["XADD", log, "\(first.unixMilliseconds + 1)-\(number)"] + fields)
      }
      try redis.setLastID(first.unixMilliseconds + 10)
      let last = try await broker.append("last")
      #expect(try await broker.log(limit: 3).map(\.id).last == last)
      #expect(try await broker.log(limit: 2).count == 2)
      #expect(try await broker.log(after: first, limit: 1).count == 1)
    }
  }

  @Test func manySpacesAreReadInPortions() async throws {
    try await withBroker { broker, _ in
      let spaces = (1...300).compactMap { EntityID($0 as Int64) }.map { SpaceID.server($0) }
      for space in spaces { try await broker.append(space.key, in: space) }
      let requests = spaces.map { LogRequest($0, after: .zero, limit: 50) }
      let bodies = try await broker.store.entries(requests).map { $0.map(\.body) }
      #expect(bodies == spaces.map { [$0.key] })
    }
  }

  @Test func recordsOfManyTablesAndSpacesComeTogether() async throws {
    try await withBroker { broker, _ in
      try await broker.makeServer(["bob"])
      let addresses: [RecordAddress] = [
        .member("bob", of: space), .settings(space), .former("bob", of: space), .settings(.server(78)),
        .member("alice", of: space), .member("carol", of: space), .channel(channel, of: space),
      ]
      let records = try await broker.store.records(addresses)
      let isThere = addresses.map { records.text($0) != nil }
      #expect(isThere == [true, true, false, false, true, false, true])
      #expect(try await broker.store.records([]).texts.isEmpty)
    }
  }

  @Test func whatCannotBeReadIsSaidToBeCorrupt() async throws {
    try await withBroker { broker, redis in
      try redis.command("SET", layout.log(space).text, "x")
      try redis.command("SET", layout.table(TableAddress(space, .settings)).text, "x")
      for attempt in [
        { broker in _ = try await broker.log() },
        { broker in _ = try await broker.text(.settings(space)) },
      ] as [@Sendable (isolated Broker) async throws -> Void] {
        let error = try #require(await broker.storeError(attempt))
        #expect(error.code == .corrupt)
      }
      let error = try #require(await broker.storeError { _ = try await $0.append("ding") })
      #expect(error.place == "commit \(space)")
    }
  }
}

extension Broker {
  func storeError(_ body: (isolated Broker) async throws -> Void) async -> StoreError? {
    do {
      try await body(self)
      return nil
    } catch {
      return error as? StoreError
    }
  }
}
