/// Decides which addresses may be connected to. It is asked when a socket is made, for exactly the address of
/// the connection. So earlier answers of DNS, and other readings of the name, do not matter.
package struct AddressPolicy: Sendable, Hashable {
  /// The networks that requests may go to, even without encryption. Outside of them, only public addresses
  /// are allowed.
  package let allowedNetworks: [IPNetwork]
  /// The setting that names these networks, for refusals.
  package let setting: String

  package init(allowedNetworks: [IPNetwork] = [], setting: String = "webhooks.allowedNetworks") {
    (self.allowedNetworks, self.setting) = (allowedNetworks, setting)
  }

  /// - Returns: the reason for a refusal; nil if the address may be connected to.
  package func refusal(of address: IPAddress, isEncrypted: Bool) -> String? {
    if allowedNetworks.contains(where: { $0.contains(address) }) { return nil }
    guard Self.isPublic(address) else {
      return "its address is not public, and not in a network of \(setting)"
    }
    return isEncrypted
      ? nil : "it must be https, since its address is in none of the networks of \(setting)"
  }

  /// Judges what a URL itself shows, before anything is sent: an address in place of a name, and no encryption. A name may have
  /// another address at each delivery.
  ///
  /// - Returns: the reason why no request to it could ever be sent, to follow the name of a field; nil if one may be.
  package func refusal(of url: OutboundURL) -> String? {
    if let address = IPAddress(url.host) {
      if allowedNetworks.contains(where: { $0.contains(address) }) { return nil }
      guard Self.isPublic(address) else {
        return "cannot lead to \(url.host), which is not a public address, and not in a network of \(setting)"
      }
    }
    guard !url.isEncrypted, allowedNetworks.isEmpty || IPAddress(url.host) != nil else { return nil }
    return "must be an https URL, because http is only for the networks of \(setting)"
  }

  static func isPublic(_ address: IPAddress) -> Bool {
    // An IPv6 address must be in the range assigned as global unicast, so that no special range is forgotten.
    guard address.bytes.count == 4 || global.contains(where: { $0.contains(address) }) else { return false }
    return !special.contains { $0.contains(address) }
  }

  private static let global = networks(["2000::/3"])

  /// Networks that are not reachable from everywhere, or that stand for others. Source: IANA, "IPv4
  /// Special-Purpose Address Registry" and "IPv6 Special-Purpose Address Registry".
  private static let special = networks([
    // This network, private use, shared by carriers, loopback, link-local.
    "0.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8",
    "169.254.0.0/16",
    // Protocol assignments, documentation, relays, benchmarks.
    "192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "192.88.99.0/24", "198.18.0.0/15",
    // Multicast, and reserved addresses with broadcast.
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
