import BelfryBytes

/// The purpose of a token that may do less than its role (`scope`, RFC 8693 §4.2).
package enum Scope: String, Sendable, CaseIterable {
  /// To look and to follow feeds. It changes nothing, and does not mark as read.
  case read
  /// To send notifications, and to change notifications that were sent.
  case send
  /// Everything else that changes something.
  case manage

  /// The words of a claim. Words that are not listed here belong to other systems.
  package static func named(in text: String) -> Set<Scope> {
    Set(text.utf8.split(separator: UInt8(ascii: " ")).compactMap { Scope(word: UTF8Text(Substring($0))) })
  }

  package static func text(of scopes: Set<Scope>) -> String {
    allCases.filter(scopes.contains).map(\.rawValue).joined(separator: " ")
  }
}
