/// The free part of the buffer that is sent to a socket. The one place in this module that writes through a pointer:
/// bytes go from the ring straight into that buffer, with no array in between.
@safe package struct StreamBuffer: ~Copyable {
  private let room: UnsafeMutableRawBufferPointer
  package private(set) var count = 0

  /// `room` must stay valid as long as the buffer is used, which is one synchronous call.
  @unsafe
  package init(_ room: UnsafeMutableRawBufferPointer) {
    unsafe self.room = unsafe room
  }

  package var remaining: Int { unsafe room.count - count }

  /// Writes as much of `bytes` from `offset` on as there is room for.
  /// - Returns: how many bytes were written.
  package mutating func write(_ bytes: [UInt8], from offset: Int = 0) -> Int {
    let length = min(bytes.count - offset, remaining)
    guard length > 0 else { return 0 }
    unsafe bytes.withUnsafeBytes { source in
      // SAFETY: `length` is at most what is left in both, so neither end is passed.
      let part = unsafe UnsafeRawBufferPointer(rebasing: source[offset..<offset + length])
      unsafe UnsafeMutableRawBufferPointer(rebasing: room[count..<count + length]).copyMemory(from: part)
    }
    count += length
    return length
  }

  /// Lets `write` append to the buffer. The caller must have checked that there is enough room.
  package mutating func append(_ write: (inout OutputSpan<UInt8>) -> Void) {
    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[count...]).bindMemory(to: UInt8.self)
    // SAFETY: the span is used within this call only, and nobody else uses the buffer.
    var span = unsafe OutputSpan(buffer: rest, initializedCount: 0)
    write(&span)
    count += unsafe span.finalize(for: rest)
  }
}
