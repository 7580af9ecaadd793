/// Numbers and patterns in the texts of commands, read as strictly as Redis reads them.
extension [UInt8] {
  /// A decimal number as Redis itself would write it: no plus sign, no leading zero, no space.
  var integer: Int64? {
    guard !isEmpty, count <= 20, let number = Int64(String(decoding: self, as: UTF8.self)) else { return nil }
    return elementsEqual(String(number).utf8) ? number : nil
  }

  var unsigned: UInt64? {
    guard !isEmpty, allSatisfy({ (48...57).contains($0) }) else { return nil }
    return UInt64(String(decoding: self, as: UTF8.self))
  }

  /// A number, or `inf` with a sign or without one. Not a number is none.
  var double: Double? {
    guard let first, first > 32, let number = Double(String(decoding: self, as: UTF8.self)), !number.isNaN
    else { return nil }
    return number
  }

  var uppercased: Bytes { map { (97...122).contains($0) ? $0 - 32 : $0 } }
  var lowercased: Bytes { map { (65...90).contains($0) ? $0 + 32 : $0 } }

  /// True if it is this word, in any case. The word is written in upper case.
  func isWord(_ word: StaticString) -> Bool {
    guard count == word.utf8CodeUnitCount else { return false }
    return uppercased.elementsEqual(word.description.utf8)
  }

  /// Sorts by bytes, as Redis does.
  func precedes(_ other: Bytes) -> Bool { lexicographicallyPrecedes(other) }

  /// A number that only depends on the bytes, and is never zero. It decides the order of tables and scans, which Redis
  /// decides by a hash with a secret of each process.
  var scanPlace: UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in self { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    hash = (hash ^ (hash >> 29)) &* 0xbf58_476d_1ce4_e5b9
    return Swift.max(hash ^ (hash >> 32), 1)
  }

  /// True if the text matches the pattern, with `*`, `?`, `[a-z]`, `[^a]` and `\`.
  func matches(_ pattern: Bytes) -> Bool { GlobMatch(pattern, self).isMatch(0, 0) }
}

private struct GlobMatch {
  private let pattern: Bytes
  private let text: Bytes

  init(_ pattern: Bytes, _ text: Bytes) { (self.pattern, self.text) = (pattern, text) }

  func isMatch(_ patternStart: Int, _ textStart: Int) -> Bool {
    var (at, place) = (patternStart, textStart)
    while at < pattern.count {
      switch pattern[at] {
      case UInt8(ascii: "*"):
        if at + 1 == pattern.count { return true }
        return (place...text.count).contains { isMatch(at + 1, $0) }
      case UInt8(ascii: "?"):
        guard place < text.count else { return false }
      case UInt8(ascii: "["):
        guard place < text.count, let end = matchClass(from: at + 1, text[place]) else { return false }
        at = end
      case UInt8(ascii: "\\") where at + 1 < pattern.count:
        at += 1
        guard place < text.count, text[place] == pattern[at] else { return false }
      default:
        guard place < text.count, text[place] == pattern[at] else { return false }
      }
      at += 1
      place += 1
    }
    return place == text.count
  }

  /// - Returns: the place of the closing bracket; nil if the byte is not in the class.
  private func matchClass(from start: Int, _ byte: UInt8) -> Int? {
    var at = start
    let isNegated = at < pattern.count && pattern[at] == UInt8(ascii: "^")
    if isNegated { at += 1 }
    var isFound = false
    while at < pattern.count, pattern[at] != UInt8(ascii: "]") {
      if pattern[at] == UInt8(ascii: "\\"), at + 1 < pattern.count { at += 1 }
      if at + 2 < pattern.count, pattern[at + 1] == UInt8(ascii: "-") {
        let bounds = [pattern[at], pattern[at + 2]].sorted()
        isFound = isFound || (bounds[0]...bounds[1]).contains(byte)
        at += 2
      } else {
        isFound = isFound || pattern[at] == byte
      }
      at += 1
    }
    return isFound != isNegated ? Swift.min(at, pattern.count - 1) : nil
  }
}
