import BelfryModel
import ModelSamples
import TestKit
import Testing

struct IdentityTests {
  @Test(arguments: ["a", "A-b_c.d@e", "0", "-", String(repeating: "x", count: 64)])
  func namesOfAccounts(text: String) { #expect(AccountID(text)?.text == text) }

  @Test(arguments: [
    "", " ", "a b", "a,b", "a:b", "a*b", "a~b", "é", "a\u{301}", "a\n", "\u{1}", "a/b", "a+b", "鐘",
    String(repeating: "x", count: 65),
  ])
  func whatIsNoAccount(text: String) {
    #expect(AccountID(text) == nil)
    #expect(SpaceID(kind: .account, name: text) == nil)
    #expect(SpaceID(key: "account:" + text) == nil)
  }

  @Test func deviceNamesMayBeLonger() {
    #expect(DeviceID(String(repeating: "x", count: 128)) != nil)
    #expect(DeviceID(String(repeating: "x", count: 129)) == nil)
  }

  @Test(arguments: ["1", "77", "9223372036854775807"])
  func idsOfEntities(text: String) { #expect(EntityID(text)?.text == text) }

  /// Two spellings of one id would be two spaces.
  @Test(arguments: ["", "0", "-1", "+1", "01", "1 ", "1.0", "9223372036854775808", "x"])
  func whatIsNoEntity(text: String) { #expect(EntityID(text) == nil) }

  @Test func anyBitsMakeAnEntity() {
    #expect(EntityID(bits: 0).number == 1)
    #expect(EntityID(bits: 1).number == 1)
    #expect(EntityID(bits: .max).number == .max)
  }

  /// FIPS 180-4's SHA-256 of `abc` begins with ba7816bf8f01cfea; the last bit is dropped.
  @Test func namesAreHashedBySHA256() {
    #expect(EntityID(hashing: "abc").number == Int64(UInt64(0xba78_16bf_8f01_cfea) >> 1))
  }

  @Test func spacesAreNamedByKindAndName() {
    #expect(SpaceID.server(77).key == "server:77")
    #expect(SpaceID.direct(77).key == "direct:77")
    #expect(SpaceID.personal("ann").key == "account:ann")
  }

  @Test(arguments: ["", ":", "server", "server:", ":77", "Server:77", "guild:77", "server:7 7", "server:7:7"])
  func whatIsNoKeyOfASpace(text: String) { #expect(SpaceID(key: text) == nil) }

  @Test func keysOfSpacesRoundTrip() {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    for _ in 0..<1_000 {
      let space = random.spaceID()
      #expect(SpaceID(key: space.key) == space)
    }
  }
}
