/// The header fields of a request, kept as one block of bytes: most are never looked at.
package struct HTTPHeaders: Sendable {
  /// `name:value\n` for each field. MHD splits lines at LF and names at the colon, so neither is inside.
  private var block: [UInt8] = []

  package init() {}

  package init(_ fields: [(name: String, value: String)]) {
    for (name, value) in fields { block += "\(name):\(value)\n".utf8 }
  }

  mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
    if block.isEmpty { block.reserveCapacity(HTTPHeaders.usualBytes) }
    unsafe block.append(contentsOf: name)
    block.append(UInt8(ascii: ":"))
    unsafe block.append(contentsOf: value)
    block.append(UInt8(ascii: "\n"))
  }

  /// Room for the headers of most requests without growing.
  private static let usualBytes = 512

  /// The value of the first field of this name, whatever the case of either. Bytes that are no UTF-8 come
  /// back as replacement characters.
  package subscript(name: String) -> String? {
    var name = name
    return name.withUTF8 { name in
      guard let value = unsafe range(of: name) else { return nil }
      return String(decoding: block[value], as: UTF8.self)
    }
  }

  package func contains(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { unsafe range(of: $0) != nil }
  }

  /// How many fields there are.
  var count: Int {
    block.count { $0 == UInt8(ascii: "\n") }
  }

  /// How many fields have this name.
  package func count(of name: String) -> Int {
    var name = name
    return name.withUTF8 { name in
      var (count, start) = (0, 0)
      while let value = unsafe range(of: name, from: start) {
        count += 1
        start = value.upperBound + 1
      }
      return count
    }
  }

  private func range(of name: UnsafeBufferPointer<UInt8>, from start: Int = 0) -> Range<Int>? {
    var line = start
    while line < block.count {
      let end = block[line...].firstIndex(of: UInt8(ascii: "\n")) ?? block.count
      let colon = line + name.count
      if colon < end, block[colon] == UInt8(ascii: ":"), unsafe matches(name, at: line) {
        return colon + 1..<end
      }
      line = end + 1
    }
    return nil
  }

  private func matches(_ name: UnsafeBufferPointer<UInt8>, at line: Int) -> Bool {
    for index in name.indices {
      guard unsafe lowercased(name[index]) == lowercased(block[line + index]) else { return false }
    }
    return true
  }
}

/// ASCII only, as header names are.
private func lowercased(_ byte: UInt8) -> UInt8 {
  byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}
