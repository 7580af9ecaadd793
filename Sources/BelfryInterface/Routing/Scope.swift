import BelfryBytes

/// What a token is for, where it is for less than its role may do (`scope`, RFC 8693 §4.2).
package enum Scope: String, Sendable, CaseIterable {
  /// To look, and to follow feeds. Changes nothing, not even what is read.
  case read
  /// To send notifications, and to change those that were sent.
  case send
  /// Everything else that changes something.
  case manage

  /// The words of a claim. Others are other systems'.
  package static func named(in text: String) -> Set<Scope> {
    Set(text.utf8.split(separator: UInt8(ascii: " ")).compactMap { Scope(word: UTF8Text(Substring($0))) })
  }

  package static func text(of scopes: Set<Scope>) -> String {
    allCases.filter(scopes.contains).map(\.rawValue).joined(separator: " ")
  }
}
