/// The header fields of a request, kept as the bytes of its head, because most of them are never read.
package struct HTTPHeaders: Sendable {
  /// The ranges of a field's name and its value in the block. They are kept so that a search passes over
  /// fields and not over bytes: about ten names are looked for in each request.
  struct Field: Sendable {
    let name: Range<Int>
    let value: Range<Int>
  }

  private let block: [UInt8]
  private let fields: [Field]

  package init() { (block, fields) = ([], []) }

  init(_ block: [UInt8], _ fields: [Field]) { (self.block, self.fields) = (block, fields) }

  package init(_ fields: [(name: String, value: String)]) {
    var (block, places): ([UInt8], [Field]) = ([], [])
    for (name, value) in fields {
      let start = block.count
      block += name.utf8
      let nameEnd = block.count
      block += value.utf8
      places.append(Field(name: start..<nameEnd, value: nameEnd..<block.count))
    }
    (self.block, self.fields) = (block, places)
  }

  /// The value of the first field of this name, without regard to case. Bytes that are not UTF-8 become replacement
  /// characters.
  package subscript(name: String) -> String? {
    var name = name
    return name.withUTF8 { name in
      guard let field = unsafe index(of: name) else { return nil }
      return String(decoding: block[fields[field].value], as: UTF8.self)
    }
  }

  package func contains(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { unsafe index(of: $0) != nil }
  }

  /// True if a field of this name has the word in its list (RFC 9110 section 5.6.1).
  /// - Parameters:
  ///   - word: in lower case, if case does not matter.
  ///   - isExact: true if case matters.
  func lists(_ name: String, _ word: StaticString, isExact: Bool = false) -> Bool {
    var name = name
    return name.withUTF8 { name in
      var start = 0
      while let field = unsafe index(of: name, from: start) {
        let value = String(decoding: block[fields[field].value], as: UTF8.self)
        for part in value.utf8.split(separator: UInt8(ascii: ",")) {
          let part = part.drop(while: HeadSyntax.isSpace)
          let isEmptyBehind = part.dropFirst(word.utf8CodeUnitCount).allSatisfy(HeadSyntax.isSpace)
          guard isEmptyBehind else { continue }
          let text = part.prefix(word.utf8CodeUnitCount)
          if isExact ? text.elementsEqual("\(word)".utf8) : HTTPHeaders.isSame(text, word) { return true }
        }
        start = field + 1
      }
      return false
    }
  }

  /// The values of all fields of this name, in their order.
  package func values(of name: String) -> [String] {
    var name = name
    return name.withUTF8 { name in
      var (values, start): ([String], Int) = ([], 0)
      while let field = unsafe index(of: name, from: start) {
        values.append(String(decoding: block[fields[field].value], as: UTF8.self))
        start = field + 1
      }
      return values
    }
  }

  /// The number of fields with this name.
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

  /// True if two fields have the same name.
  var hasRepeatedName: Bool {
    for index in fields.indices {
      let name = fields[index].name
      for other in fields[(index + 1)...]
      where other.name.count == name.count && isSameName(name, at: other.name.lowerBound) { return true }
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
    for index in first..<fields.count {
      let place = fields[index].name
      if place.count == name.count, unsafe matches(name, at: place.lowerBound) { return index }
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
  /// True if a text is this word, without regard to case. It is not generic: for any collection, a call from
  /// another module is not specialized, and took 9,000 instructions for `Bearer`.
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
