/// The code that lets anybody who knows it into a server: 12 characters that nobody confuses when reading
/// them out.
package struct InviteCode: Sendable, Hashable {
  /// No I, L, O or U, as in Crockford's base 32.
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
  private static let length = 12

  package static let rule = "12 digits and letters, none of them I, L, O or U"

  package let text: String

  /// Makes a code from 60 random bits: with 1,000 codes in a server, still 10^15 guesses for one hit.
  package init(bits: UInt64) {
    text = String((0..<Self.length).map { Self.alphabet[Int((bits >> (5 * UInt64($0))) & 31)] })
  }

  /// Reads a code as a caller gives it; nil if it cannot be one. Lower case counts as upper case.
  package init?(text: some StringProtocol) {
    guard text.utf8.count == Self.length, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    let text = text.uppercased()
    guard text.allSatisfy(Self.alphabet.contains) else { return nil }
    self.text = text
  }
}

/// The creator of a code. Its table has it as an ``ExpiringText``.
package struct InviteCodeRecord: Sendable, Hashable, Codable {
  /// Nil if a trusted caller made it in nobody's name.
  package var creator: AccountID?
}

extension RecordAddress {
  package static func code(_ code: InviteCode, of space: SpaceID) -> Self { Self(space, .codes, code.text) }
}
