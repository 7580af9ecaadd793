import Glibc

/// A name or a word that came from outside. Two of them are equal if their bytes are, and are ordered by
/// their bytes.
///
/// `String` compares and hashes texts by their meaning to Unicode: it sorts each run of combining marks
/// first, in time that grows with the square of the run's length. A caller who sends a name of 48 KB in marks
/// would stop a loop for seconds. Here texts of different lengths differ at once, so a name longer than every
/// known one costs nothing to look up, and any other costs as much as it has bytes.
package struct UTF8Text: Sendable {
  package let string: String

  package init(_ string: String) { self.string = string }

  package init(_ text: Substring) { string = String(text) }

  /// The number of bytes.
  package var count: Int { string.utf8.count }
  package var isEmpty: Bool { string.utf8.isEmpty }
  package var utf8: String.UTF8View { string.utf8 }
}

extension UTF8Text: Hashable, Comparable {
  package static func == (left: Self, right: Self) -> Bool {
    let (left, right) = (left.string.utf8, right.string.utf8)
    guard left.count == right.count else { return false }
    return left.span.order(before: right.span) == 0
  }

  package static func < (left: Self, right: Self) -> Bool {
    let (left, right) = (left.string.utf8, right.string.utf8)
    let order = left.span.order(before: right.span)
    return order < 0 || order == 0 && left.count < right.count
  }

  package func hash(into hasher: inout Hasher) {
    let bytes = string.utf8.span
    // SAFETY: the bytes are read during the call.
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    // No UTF-8 holds this byte: two texts one after the other are not two others.
    hasher.combine(0xff as UInt8)
  }
}

extension UTF8Text: ExpressibleByStringLiteral, CustomStringConvertible {
  package init(stringLiteral string: String) { self.init(string) }
  package var description: String { string }
}

extension Span<UInt8> {
  /// Below 0 if the bytes go before the others, as far as both go.
  fileprivate func order(before others: Span<UInt8>) -> Int32 {
    // SAFETY: both have so many bytes.
    unsafe withUnsafeBytes { bytes in
      unsafe others.withUnsafeBytes { others in
        guard let start = bytes.baseAddress, let otherStart = others.baseAddress, unsafe start != otherStart
        else { return 0 }
        return unsafe memcmp(start, otherStart, min(bytes.count, others.count))
      }
    }
  }
}

// MARK: - Words

extension CaseIterable where Self: RawRepresentable<String> {
  /// The case with this raw value. Swift's own `init(rawValue:)` compares strings.
  package init?(word: UTF8Text) {
    guard let meant = Self.allCases.first(where: { UTF8Text($0.rawValue) == word }) else { return nil }
    self = meant
  }
}

// MARK: - Parts

extension StringProtocol where SubSequence == Substring, UTF8View.SubSequence == Substring.UTF8View {
  /// The parts between the marks, which are ASCII; there is one part more than there are marks. Splitting by
  /// a `Character` would compare by Unicode's rules.
  package func parts(
    between mark: Unicode.Scalar, most: Int = .max
  ) -> [Substring] {
    utf8.split(separator: UInt8(ascii: mark), maxSplits: most - 1, omittingEmptySubsequences: false)
      .map(Substring.init)
  }
}

extension UTF8Text {
  /// The beginning of the text, enough for a person to recognise it: whole Unicode scalars of at most so many
  /// bytes together.
  package func beginning(bytes most: Int) -> String {
    guard count > most else { return string }
    let bytes = string.utf8
    var end = bytes.index(bytes.startIndex, offsetBy: most)
    while end > bytes.startIndex, UTF8.isContinuation(bytes[end]) { end = bytes.index(before: end) }
    return String(string[..<end])
  }
}
