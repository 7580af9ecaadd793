import Testing

@testable import BelfryOutbound

@Suite struct AddressPolicyTests {
  @Test(arguments: [
    "127.0.0.1", "127.255.255.255", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1", "0.0.0.0", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "192.0.0.8",
    "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "::", "::1", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1", "fe80::1", "fc00::1", "fd12:3456::1", "ff02::1", "2001::1", "2001:db8::1",
    "2002:a00:1::1",
    "::127.0.0.1", "fec0::1",
  ])
  func whatIsNotPublicIsRefused(_ text: String) throws {
    let address = try #require(IPAddress(text))
    #expect(AddressPolicy().refusal(of: address, isEncrypted: true) != nil)
  }

  @Test(arguments: [
    "1.1.1.1", "8.8.8.8", "172.15.255.255", "172.32.0.1", "192.167.255.255", "100.63.255.255", "100.128.0.1",
    "126.255.255.255", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8",
  ])
  func whatIsPublicIsAllowedIfEncrypted(_ text: String) throws {
    let address = try #require(IPAddress(text))
    #expect(AddressPolicy().refusal(of: address, isEncrypted: true) == nil)
    #expect(AddressPolicy().refusal(of: address, isEncrypted: false) != nil)
  }

  @Test func whatIsConfiguredIsAllowedAndNothingBeside() throws {
    let policy = AddressPolicy(
      allowedNetworks: ["10.1.0.0/15", "fd00::/9", "127.0.0.1"].compactMap { IPNetwork($0) })
    func isAllowed(_ text: String) throws -> Bool {
      policy.refusal(of: try #require(IPAddress(text)), isEncrypted: false) == nil
    }
    #expect(try isAllowed("10.0.0.1"))
    #expect(try isAllowed("10.1.255.255"))
    #expect(try !isAllowed("10.2.0.0"))
    #expect(try isAllowed("fd7f::1"))
    #expect(try !isAllowed("fd80::1"))
    #expect(try isAllowed("127.0.0.1"))
    #expect(try isAllowed("::ffff:127.0.0.1"))
    #expect(try !isAllowed("127.0.0.2"))
  }

  @Test(
    arguments: [
      ("https://a.example", [], true), ("https://8.8.8.8", [], true),
      ("https://203.0.113.7/copies", [], false),
      ("https://[::1]/", [], false), ("http://a.example", [], false),
      ("http://a.example", ["10.0.0.0/8"], true),
      ("http://10.0.0.1", ["10.0.0.0/8"], true), ("https://10.0.0.1", ["10.0.0.0/8"], true),
      ("http://8.8.8.8", ["10.0.0.0/8"], false), ("https://192.168.0.1", ["10.0.0.0/8"], false),
    ] as [(String, [String], Bool)])
  func aURLThatCanNeverWorkIsRefused(text: String, networks: [String], mayWork: Bool) throws {
    let policy = AddressPolicy(allowedNetworks: networks.compactMap { IPNetwork($0) })
    #expect((policy.refusal(of: try #require(OutboundURL(text))) == nil) == mayWork)
  }

  @Test(arguments: [
    "", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "fd00::/129", "a/8", "10.0.0.0/8/8", "10.0.0.0/",
  ])
  func whatIsNoNetworkIsNone(_ text: String) {
    #expect(IPNetwork(text) == nil)
  }

  /// Another notation of an address counts as that address.
  @Test(arguments: [
    ("http://2130706433/", "127.0.0.1"), ("http://0x7f.1/", "127.0.0.1"), ("http://[::1]:81/", "::1"),
    ("https://EXAMPLE.org", "example.org"),
  ])
  func hostsAreReadAsTheyAreConnectedTo(_ text: String, _ host: String) throws {
    #expect(try #require(OutboundURL(text)).host == host)
  }

  @Test(arguments: [
    "", "ftp://example.org/", "file:///etc/passwd", "https://user@example.org/", "https://u:p@example.org/",
    "https://example.org/#a", "https://", "example.org", "https://ex ample.org/", "https://example.org:0/",
    "https://example.org:65536/", "https://exämple.org/", "https://example.org/\r\nX: y",
  ])
  func whatIsNoPlaceToSendToIsRefused(_ text: String) {
    #expect(OutboundURL(text) == nil)
  }

  @Test func aLongURLIsRefusedAndTheLongestIsNot() {
    let start = "https://example.org/"
    let longest = start + String(repeating: "a", count: OutboundURL.lengthMaxBytes - start.utf8.count)
    #expect(OutboundURL(longest) != nil)
    #expect(OutboundURL(longest + "a") == nil)
  }

  @Test func noHostIsLongerThanANameInDNS() {
    #expect(OutboundURL("https://\(String(repeating: "a", count: 253))/") != nil)
    #expect(OutboundURL("https://\(String(repeating: "a", count: 254))/") == nil)
  }

  @Test func whatIsKeptIsNoLongerThanWhatCanBeReadAgain() {
    // A path is added where there is none.
    let start = "https://a.example?"
    let query = String(repeating: "a", count: OutboundURL.lengthMaxBytes - start.utf8.count)
    #expect(OutboundURL(start + query) == nil)
    let kept = OutboundURL(start + query.dropLast())
    #expect(kept.flatMap { OutboundURL($0.text) } == kept && kept != nil)
  }
}
