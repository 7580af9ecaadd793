internal import BelfryBytes

/// A record that expires: `<milliseconds since 1970>`, or that, a blank and the rest.
///
/// A record that has expired counts as absent, and the sweep of any broker removes it. So nothing has to be running when a
/// mute or an invitation ends.
package struct ExpiringText: Sendable, Hashable {
  package var expiresAtMilliseconds: Int64
  package var rest: String

  package init(expiresAtMilliseconds: Int64, rest: String = "") {
    self.expiresAtMilliseconds = expiresAtMilliseconds
    self.rest = rest
  }

  package var text: String { rest.isEmpty ? "\(expiresAtMilliseconds)" : "\(expiresAtMilliseconds) \(rest)" }

  package init?(text: String) {
    let parts = text.parts(between: " ", most: 2)
    guard let time = Int64(parts[0]) else { return nil }
    self.init(expiresAtMilliseconds: time, rest: parts.count > 1 ? String(parts[1]) : "")
  }
}

extension Records {
  /// The record; nil if there is none, or if it has expired.
  package func lasting(_ address: RecordAddress, nowMilliseconds: Int64) throws(Refusal) -> ExpiringText? {
    guard let text = text(address) else { return nil }
    guard let record = ExpiringText(text: text) else { throw unreadable(address) }
    return record.expiresAtMilliseconds > nowMilliseconds ? record : nil
  }
}
