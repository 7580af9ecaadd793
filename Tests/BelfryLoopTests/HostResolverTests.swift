import BelfryLoop
import Testing

@Suite struct HostResolverTests {
  @Test func numbersAndThisMachineNeedNoLookUp() {
    #expect(HostResolver.knownAddress(of: "10.1.2.3") == "10.1.2.3")
    #expect(HostResolver.knownAddress(of: "fe80::1") == "fe80::1")
    #expect(HostResolver.knownAddress(of: "localhost") == "127.0.0.1")
    #expect(HostResolver.knownAddress(of: "redis") == nil)
    #expect(HostResolver.knownAddress(of: "1.2.3") == nil)
  }

  @Test func aNameIsLookedUpAndTheAnswerComesOnTheLoop() async throws {
    try await withLoop { resident in
      let answer = await resident.run { resident in
        let resolver = HostResolver(host: "localhost", loop: resident.loop)
        return await withCheckedContinuation { waiter in
          // The first call is superseded by the second, so its continuation must not be resumed.
          resolver.resolve { _ in Issue.record("superseded, and yet called") }
          resolver.resolve {
            resident.loop.checkIsolated()
            waiter.resume(returning: $0)
          }
        }
      }
      let addresses = try answer.get()
      #expect(addresses.contains("127.0.0.1") || addresses.contains("::1"))
    }
  }
}
