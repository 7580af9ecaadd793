import BelfryModel
import BelfryServer
import BelfryStore
import ModelSamples
import TestKit
import Testing

@testable import BelfryLive

@Suite struct HeartbeatTests {
  /// One with each beat: the bytes of a beat must not count as something said that makes the next one needless.
  @Test func everyBeatIsSaid() async throws {
    let said = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let hub = Hub(
        loop: loop, scope: scope, store: memory, live: SlowLiveFeed(memory, on: loop), limits: Limits())
      let consumer = try hub.openConsumer(
        account: "bob", device: nil, after: nil, expiresAtMilliseconds: .max, wantsCounts: false,
        framing: ServerSentEvents.framing)
      defer { consumer.close() }
      func pull() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let count = unsafe bytes.withUnsafeMutableBytes { room in
          var buffer = unsafe StreamBuffer(room)
          _ = consumer.pull(into: &buffer)
          return buffer.count
        }
        return Array(bytes[..<count])
      }
      for _ in 0..<2_000 where consumer.state != .live { try await loop.sleep(for: .milliseconds(1)) }
      _ = pull()
      return (0..<4).map { _ in
        consumer.beat()
        return pull()
      }
    }
    #expect(said == Array(repeating: ServerSentEvents.framing.heartbeat, count: 4))
  }

  /// A client that does not read is sent one, and no more until it has taken that.
  @Test func beatsDoNotPileUp() async throws {
    let count = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let hub = Hub(
        loop: loop, scope: scope, store: memory, live: SlowLiveFeed(memory, on: loop), limits: Limits())
      let consumer = try hub.openConsumer(
        account: "bob", device: nil, after: nil, expiresAtMilliseconds: .max, wantsCounts: false,
        framing: ServerSentEvents.framing)
      defer { consumer.close() }
      for _ in 0..<100 { consumer.beat() }
      var bytes = [UInt8](repeating: 0, count: 4_096)
      return unsafe bytes.withUnsafeMutableBytes { room in
        var buffer = unsafe StreamBuffer(room)
        _ = consumer.pull(into: &buffer)
        return buffer.count
      }
    }
    // Nothing but the delay after which to come back, which was said first.
    #expect(count < 64)
  }
}
