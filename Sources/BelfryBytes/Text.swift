import Glibc

// Texts as bytes, for data that is read and written with every send and every delivery.

extension [UInt8] {
  /// The same as `append(contentsOf: text.utf8)`, which asks for the bytes through a protocol, at ten times the
  /// price of a short text.
  package mutating func append(_ text: String) {
    // SAFETY: the bytes are copied during the call.
    let isDone: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { unsafe append(contentsOf: $0) }
    if isDone == nil { append(contentsOf: text.utf8) }
  }

  package mutating func append(_ text: StaticString) {
    // SAFETY: a static text lies where it is for ever.
    let bytes = unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    unsafe append(contentsOf: bytes)
  }
}

extension [UInt8] {
  /// The first byte from `start` on that a JSON string cannot hold unescaped: a quote, a backslash or a
  /// control character; the count if there is none.
  ///
  /// The search takes eight bytes at a time, since every text that is sent is searched twice, when it is read
  /// and when it is written: byte by byte that was a tenth of a send of a batch.
  package func firstEscaped(from start: Int) -> Int { unsafe span.bytes.firstEscaped(from: start) }
}

extension RawSpan {
  fileprivate func firstEscaped(from start: Int) -> Int {
    var position = start
    while position + 8 <= byteCount {
      // SAFETY: any eight bytes are a number, and they are within the span.
      let word = unsafe UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
      let found = Self.escaped(in: word)
      if found != 0 { return position + found.trailingZeroBitCount / 8 }
      position += 8
    }
    while position < byteCount {
      // SAFETY: within the span.
      let byte = unsafe unsafeLoad(fromByteOffset: position, as: UInt8.self)
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return position }
      position += 1
    }
    return byteCount
  }

  /// The high bit of each byte that is escaped. One too many may be set, but only above one that is right
  /// (Bit Twiddling Hacks, "Determine if a word has a byte less than n").
  private static func escaped(in word: UInt64) -> UInt64 {
    let each: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (each &* UInt64(UInt8(ascii: "\"")))
    let backslashes = word ^ (each &* UInt64(UInt8(ascii: "\\")))
    let below = (word &- each &* 0x20) & ~word
    let found = below | (quotes &- each) & ~quotes | (backslashes &- each) & ~backslashes
    return found & (each &* 0x80)
  }
}

extension Span<UInt8> {
  /// The first position of the byte from `start` on; nil if there is none.
  package func firstPosition(of byte: UInt8, from start: Int = 0) -> Int? {
    // SAFETY: the search stays within the bytes, and its result is used as a distance only.
    unsafe extracting(start...).withUnsafeBytes { bytes in
      guard let first = bytes.baseAddress, let found = unsafe memchr(first, Int32(byte), bytes.count)
      else { return nil }
      return unsafe start + (UnsafeRawPointer(found) - first)
    }
  }

  /// The text of the bytes; nil if they are no UTF-8.
  package var text: String? {
    // SAFETY: the bytes are copied during the call.
    unsafe withUnsafeBufferPointer { unsafe String(validating: $0, as: UTF8.self) }
  }
}

extension ArraySlice<UInt8> {
  /// The first position of the byte; nil if there is none. The C library looks at 32 bytes at a time.
  package func firstPosition(of byte: UInt8) -> Int? {
    // SAFETY: the search stays within the bytes, and its result is used as a distance only.
    unsafe withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress, let found = unsafe memchr(start, Int32(byte), bytes.count)
      else { return nil }
      return unsafe startIndex + (UnsafeRawPointer(found) - start)
    }
  }

  /// Takes the bytes before the mark, and the mark; everything, if there is none.
  package mutating func take(before mark: UInt8) -> ArraySlice<UInt8> {
    let end = firstPosition(of: mark) ?? endIndex
    defer { self = self[Swift.min(end + 1, endIndex)...] }
    return self[..<end]
  }
}
