import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import StreamClients
import TestKit
import Testing

/// When streams of an account may be registered: a broker has to hear that one of them is to end.
@Suite struct HearingTests {
  /// Streams that open together are cut together, and the next ones come while snapshots for the former are still taken.
  @Test(arguments: UInt64(1)...3) func anAccountIsHeardOnlyWhileItsChannelIsSubscribed(seed: UInt64)
    async throws
  {
    let (heard, tooEarly) = try await withLoop { loop, scope in
      let memory = MemoryStore(limits: Limits())
      let chance = Chance(seed: seed)
      let live = SlowLiveFeed(memory, on: loop)
      let hub = Hub(
        loop: loop, scope: scope, store: SlowStore(memory, chance, on: loop), live: live, limits: Limits())
      var (heard, tooEarly) = (0, 0)
      hub.onHearing = { account in
        heard += 1
        if !live.isSubscribed(.personal(account)) { tooEarly += 1 }
      }
      for _ in 0..<300 {
        let clients = (0..<4).map { _ in Client("bob") }
        for client in clients { try client.open(hub) }
        for _ in 0..<chance.below(60) { await loop.letOthersRun() }
        for client in clients { client.cut() }
      }
      let (last, before) = (Client("bob"), heard)
      try last.open(hub)
      defer { last.cut() }
      try await eventually { heard > before }
      return (heard, tooEarly)
    }
    #expect(heard > 0)
    #expect(tooEarly == 0)
  }
}
