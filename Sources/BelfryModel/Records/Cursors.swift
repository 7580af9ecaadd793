import BelfryBytes

/// The place where a listing goes on. Opaque to callers.
package struct PageCursor: Sendable {
  /// Longer than any cursor that a store gives.
  package static let textLimitBytes = 1_024

  package var text: String
  package init(text: String) { self.text = text }
}

extension PageCursor: Hashable {
  package static func == (left: Self, right: Self) -> Bool { UTF8Text(left.text) == UTF8Text(right.text) }
  package func hash(into hasher: inout Hasher) { hasher.combine(UTF8Text(text)) }
}

/// The place of an entry in the audit record: its time, and its number within that millisecond.
package struct AuditPlace: Sendable, Hashable {
  package let milliseconds: Int64
  private let number: Int64

  package var text: String { "\(milliseconds)-\(number)" }

  package init?(text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard text.utf8.count <= 41, parts.count == 2, let milliseconds = Int64(String(Substring(parts[0]))),
      let number = Int64(String(Substring(parts[1]))), milliseconds >= 0, number >= 0
    else { return nil }
    (self.milliseconds, self.number) = (milliseconds, number)
    // Redis refuses other forms, and the id before all others.
    guard self.text == text, (milliseconds, number) != (0, 0) else { return nil }
  }
}
