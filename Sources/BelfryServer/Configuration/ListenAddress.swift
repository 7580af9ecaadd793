/// The address that clients connect to: `HOST:PORT`, with an IPv6 address in brackets. Port 0 lets the system
/// choose one.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
  package var host: String
  package var port: UInt16

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  package init?(_ text: String) {
    let host: Substring
    let rest: Substring
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[..<end].dropFirst()
      rest = text[end...].dropFirst()
      // Brackets are for IPv6 addresses only.
      guard host.contains(":") else { return nil }
    } else {
      host = text.prefix { $0 != ":" }
      rest = text[host.endIndex...]
    }
    guard !host.isEmpty, !host.contains(where: { "[]".contains($0) }), rest.first == ":",
      let port = UInt16(rest.dropFirst())
    else { return nil }
    self.init(host: String(host), port: port)
  }

  package var description: String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
