internal import BelfryBytes

/// A record that is over at a certain time: `<milliseconds since 1970>`, or that, a space and the rest.
///
/// Whoever reads one that is over takes it for absent; removing it is only tidying up, and any broker's
/// sweep does it. So nothing has to be running, anywhere, at the moment when a mute or an invitation ends.
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
  /// The record, unless there is none or its time has passed.
  package func lasting(_ address: RecordAddress, nowMilliseconds: Int64) throws(Refusal) -> ExpiringText? {
    guard let text = text(address) else { return nil }
    guard let record = ExpiringText(text: text) else { throw unreadable(address) }
    return record.expiresAtMilliseconds > nowMilliseconds ? record : nil
  }
}
