/// Which addresses may be connected to. Asked when a socket is made, of the very address that it will connect to: what a
/// name meant before, and what it means to somebody else, does not matter then.
package struct AddressPolicy: Sendable, Hashable {
  /// The networks inside which requests may go, without encryption too. Outside of them only what is public.
  package let allowedNetworks: [IPNetwork]
  /// The setting that names these networks, for refusals.
  package let setting: String

  package init(allowedNetworks: [IPNetwork] = [], setting: String = "webhooks.allowedNetworks") {
    (self.allowedNetworks, self.setting) = (allowedNetworks, setting)
  }

  /// - Returns: why not; nil if it may be connected to.
  package func refusal(of address: IPAddress, isEncrypted: Bool) -> String? {
    if allowedNetworks.contains(where: { $0.contains(address) }) { return nil }
    guard Self.isPublic(address) else {
      return "its address is not public, and in no network of \(setting)"
    }
    return isEncrypted
      ? nil : "it must be https: its address is in no network of \(setting)"
  }

  static func isPublic(_ address: IPAddress) -> Bool {
    // Of IPv6 only what is handed out as global unicast, so that nothing is forgotten.
    guard address.bytes.count == 4 || global.contains(where: { $0.contains(address) }) else { return false }
    return !special.contains { $0.contains(address) }
  }

  private static let global = networks(["2000::/3"])

  /// What is not reachable from everywhere, or stands for something else.
  /// Source: IANA, "IPv4 Special-Purpose Address Registry" and "IPv6 Special-Purpose Address Registry".
  private static let special = networks([
    // This network, private use, shared by carriers, loopback, link-local.
    "0.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8",
    "169.254.0.0/16",
    // Protocol assignments, documentation, relays, benchmarks.
    "192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "192.88.99.0/24", "198.18.0.0/15",
    // Multicast, and what is reserved, with broadcast.
    "224.0.0.0/4", "240.0.0.0/4",
    // Protocol assignments with Teredo, documentation, 6to4.
    "2001::/23", "2001:db8::/32", "3fff::/20", "2002::/16",
  ])

  private static func networks(_ texts: [String]) -> [IPNetwork] {
    let networks = texts.compactMap { IPNetwork($0) }
    precondition(networks.count == texts.count, "each of them is a network")
    return networks
  }
}
