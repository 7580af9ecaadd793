/// The buffer that a stream's source fills, with room around it for the chunked coding (RFC 9112 section 7.1), so that
/// a chunk is sent in one write without being copied. All streams of a server share one; a stream copies what the
/// kernel does not take at once.
@safe struct ChunkBuffer: ~Copyable {
  /// Room for the length, up to 8 hexadecimal digits, and a line break.
  private static let headRoom = 10
  private static let tailRoom = 2

  private let memory: UnsafeMutableRawBufferPointer

  init(payloadBytes: Int) {
    unsafe memory = .allocate(
      byteCount: ChunkBuffer.headRoom + payloadBytes + ChunkBuffer.tailRoom, alignment: 16)
  }

  deinit {
    unsafe memory.deallocate()
  }

  /// The memory that the source writes to.
  var payload: UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(
      rebasing: memory[ChunkBuffer.headRoom..<memory.count - ChunkBuffer.tailRoom])
  }

  /// The first bytes of the payload, framed as a chunk if the body is chunked.
  /// - Parameter count: 1 to the payload's size.
  func framed(_ count: Int, isChunked: Bool) -> UnsafeRawBufferPointer {
    var start = ChunkBuffer.headRoom
    var end = start + count
    if isChunked {
      unsafe memory[end] = UInt8(ascii: "\r")
      unsafe memory[end + 1] = UInt8(ascii: "\n")
      end += 2
      start -= 2
      unsafe memory[start] = UInt8(ascii: "\r")
      unsafe memory[start + 1] = UInt8(ascii: "\n")
      var rest = UInt32(truncatingIfNeeded: count)
      repeat {
        start -= 1
        let digit = UInt8(truncatingIfNeeded: rest & 0xF)
        unsafe memory[start] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        rest >>= 4
      } while rest > 0
    }
    return unsafe UnsafeRawBufferPointer(rebasing: memory[start..<end])
  }

  /// The chunk that ends a chunked body.
  static let last = Array("0\r\n\r\n".utf8)
}
