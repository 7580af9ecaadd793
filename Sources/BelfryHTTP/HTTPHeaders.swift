/// The header fields of a request, kept as one block of bytes: most are never looked at.
package struct HTTPHeaders: Sendable {
  /// Where a field's name and its value end in the block. The next field begins there.
  private struct Field {
    var nameEnd: Int
    var valueEnd: Int
  }

  private var block: [UInt8] = []
  /// Kept so that a search passes over fields and not over bytes: about ten names are looked for in each request.
  private var fields: [Field] = []

  package init() {}

  package init(_ fields: [(name: String, value: String)]) {
    for (name, value) in fields {
      block += name.utf8
      let nameEnd = block.count
      block += value.utf8
      self.fields.append(Field(nameEnd: nameEnd, valueEnd: block.count))
    }
  }

  mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
    if block.isEmpty {
      block.reserveCapacity(HTTPHeaders.usualBytes)
      fields.reserveCapacity(HTTPHeaders.usualFields)
    }
    unsafe block.append(contentsOf: name)
    let nameEnd = block.count
    unsafe block.append(contentsOf: value)
    fields.append(Field(nameEnd: nameEnd, valueEnd: block.count))
  }

  /// Room for the headers of most requests without growing.
  private static let usualBytes = 512
  private static let usualFields = 16

  /// The value of the first field of this name, without regard to case. Bytes that are not UTF-8 become replacement
  /// characters.
  package subscript(name: String) -> String? {
    var name = name
    return name.withUTF8 { name in
      guard let field = unsafe index(of: name) else { return nil }
      return String(decoding: block[fields[field].nameEnd..<fields[field].valueEnd], as: UTF8.self)
    }
  }

  package func contains(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { unsafe index(of: $0) != nil }
  }

  /// How many fields there are.
  var count: Int { fields.count }

  /// How many fields have this name.
  package func count(of name: String) -> Int {
    var name = name
    return name.withUTF8 { name in
      var (count, start) = (0, 0)
      while let field = unsafe index(of: name, from: start) {
        count += 1
        start = field + 1
      }
      return count
    }
  }

  /// Whether two fields have the same name.
  var hasRepeatedName: Bool {
    var start = 0
    for index in fields.indices {
      let nameEnd = fields[index].nameEnd
      var otherStart = fields[index].valueEnd
      for other in fields[(index + 1)...] {
        if other.nameEnd - otherStart == nameEnd - start, isSameName(start..<nameEnd, at: otherStart) {
          return true
        }
        otherStart = other.valueEnd
      }
      start = fields[index].valueEnd
    }
    return false
  }

  private func isSameName(_ name: Range<Int>, at start: Int) -> Bool {
    for offset in 0..<name.count
    where lowercased(block[name.lowerBound + offset]) != lowercased(block[start + offset]) {
      return false
    }
    return true
  }

  private func index(of name: UnsafeBufferPointer<UInt8>, from first: Int = 0) -> Int? {
    var start = first == 0 ? 0 : fields[first - 1].valueEnd
    for index in first..<fields.count {
      if fields[index].nameEnd - start == name.count, unsafe matches(name, at: start) { return index }
      start = fields[index].valueEnd
    }
    return nil
  }

  private func matches(_ name: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
    for index in name.indices {
      guard unsafe lowercased(name[index]) == lowercased(block[start + index]) else { return false }
    }
    return true
  }
}

extension HTTPHeaders {
  /// Whether a text is this word without regard to case. Not generic: for any collection, a call from another module is
  /// not specialized, and took 9,000 instructions for `Bearer`.
  /// - Parameter word: in lower case.
  package static func isSame(_ text: Substring.UTF8View, _ word: StaticString) -> Bool {
    // SAFETY: a static text lies where it is for ever.
    let word = unsafe UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    var index = 0
    for byte in text {
      guard index < word.count, unsafe lowercased(byte) == word[index] else { return false }
      index += 1
    }
    return index == word.count
  }
}

/// ASCII only, as header names are.
private func lowercased(_ byte: UInt8) -> UInt8 {
  byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}
