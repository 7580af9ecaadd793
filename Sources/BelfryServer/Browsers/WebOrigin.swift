import BelfryBytes

/// The origin of a page, as browsers send it in `Origin` (RFC 6454 section 6.2). Origins are compared byte by
/// byte: browsers have one spelling for each, so another spelling does not come from a browser.
package struct WebOrigin: Sendable, Hashable, CustomStringConvertible {
  let text: UTF8Text

  package var description: String { text.string }

  /// Nil for a text that no browser sends: another scheme, upper case, a path, the scheme's own port, `null`,
  /// `*`.
  package init?(_ text: String) {
    let schemes: [(prefix: String, port: Int)] = [("https://", 443), ("http://", 80)]
    guard let scheme = schemes.first(where: { text.utf8.starts(with: $0.prefix.utf8) }) else { return nil }
    let rest = Substring(text.utf8.dropFirst(scheme.prefix.utf8.count))
    guard let host = HostName(rest), host.port != scheme.port, host.description.utf8.elementsEqual(rest.utf8)
    else { return nil }
    self.text = UTF8Text(text)
  }

  static let rule =
    "scheme://host[:port] as browsers write it, such as https://app.example: in lower case, without a path, without the "
    + "scheme's default port, and without *"
}
