import BelfryModel
import BelfryRedis
import ModelSamples
import TestKit
import Testing

@testable import BelfryFeed
@testable import BelfryStore

/// With `durability: replicated` a mark is acknowledged when replicas have it, also by the answer to its repetition.
@Suite struct ReplicatedMarkTests {
  private static let bob: AccountID = "bob"

  /// The first try is refused, as no replica has it, and is carried out all the same. The second changes nothing.
  @Test(arguments: [false, true]) func aMarkThatChangesNothingIsNotAcknowledged(upTo: Bool) async throws {
    try await withRedisCluster(replicas: true) { cluster in
      let url = try #require(cluster.nodes[0].tcpURL)
      try await withReader(of: url, promise: ReplicationPromise(replicas: 1)) { reader, _ in
        // The broker connects once more to nodes that it asked for the way to the first key.
        try await eventually {
          _ = try await reader.store.lastIDs(of: Partitions.standard.all)
          return true
        }
        let id = try await send(by: reader.store)
        func mark() async -> Result<Int, Refusal> {
          do throws(Refusal) {
            return .success(
              upTo
                ? try await reader.markRead(account: Self.bob, device: nil, upTo: id)
                : try await reader.markRead(account: Self.bob, device: nil, items: [id]))
          } catch {
            return .failure(error)
          }
        }
        let layout = RedisLayout(.standard)
        let slot = layout.slot(of: layout.partition(of: Self.bob))
        let master = try cluster.owner(ofSlot: slot)
        let replica = cluster.replica(of: try #require(cluster.nodes.firstIndex { $0 === master }))
        replica.pause()
        defer { replica.resume() }
        for _ in 0..<3 {
          let outcome = await mark()
          #expect(throws: Refusal.self, "acknowledged what no replica has") { try outcome.get() }
        }
        replica.resume()
        try await eventually { (try? await mark().get()) != nil }
        #expect(try await mark().get() == 0)
        #expect(try await reader.store.wholeReadState(of: Self.bob).contains(id, in: .personal(Self.bob)))
      }
    }
  }

  private func send(by store: any Store) async throws -> MessageID {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
    content.toAccids = [Self.bob]
    let app = Actor(account: nil, isTrusted: true)
    let sends = try SendNotification.sends(content, by: app, generatedClientId: "only")
    let done = try await OperationRunner(store: store, limits: Limits()).run(try #require(sends.first))
    return try #require(done.commit?.ids.first)
  }
}
