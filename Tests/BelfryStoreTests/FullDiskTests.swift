import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// Redis cannot save to its disk, and refuses all writes. Reading goes on.
@Suite struct FullDiskTests {
  @Test func writesAreRefusedByNameAndNothingWasDone() async throws {
    try await withBroker { broker, redis in
      try await broker.makeServer(["bob"])
      try await broker.append("before")
      let before = try await broker.log().map(\.id)
      #expect(try await broker.store.readRoom().refusals == [])
      try await redis.failDisk()
      let error = await #expect(throws: StoreError.self) { try await broker.append("during") }
      #expect(error?.code == .diskFull)
      #expect(error?.mayBeDone == false)
      #expect(error?.refusal.code == .unavailable)
      #expect(error?.refusal.detail.contains("cannot save to its disk") == true)
      await #expect(throws: StoreError.self) { try await broker.store.sweep(space.partition) }
      #expect(try await broker.log().map(\.id) == before)
      #expect(try await broker.store.readRoom().refusals == [.disk])

      try await redis.healDisk()
      #expect(try await broker.store.readRoom().refusals == [])
      let last = try await broker.append("after")
      #expect(try await broker.log().map(\.id) == before + [last])
    }
  }

  /// A broker of a new release comes, whose functions Redis does not take.
  @Test func aBrokerWithoutTheLibraryReads() async throws {
    try await withBroker { broker, redis in
      let id = try await broker.append("before")
      try redis.command("FUNCTION", "FLUSH")
      try await redis.failDisk()
      try await withBroker(of: redis) { other in
        #expect(try await other.log().map(\.id) == [id])
        let error = await #expect(throws: StoreError.self) { try await other.append("during") }
        #expect(error?.code == .diskFull)
        try await redis.healDisk()
        try await other.append("after")
      }
    }
  }
}
