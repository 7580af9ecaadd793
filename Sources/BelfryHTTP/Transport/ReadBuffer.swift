import BelfryTransport

/// The buffer into which a server reads from its connections, one after the other. A connection keeps only
/// bytes that it cannot use at once.
@safe struct ReadBuffer: ~Copyable {
  private let memory: UnsafeMutableRawBufferPointer

  init() { unsafe memory = .allocate(byteCount: HTTPLimits.readBytes, alignment: 16) }

  deinit { unsafe memory.deallocate() }

  /// Adds what has arrived to the bytes, as far as it goes.
  func read(from transport: any ByteTransport, to bytes: inout [UInt8], most: Int) -> TransportResult {
    let result = unsafe transport.read(into: UnsafeMutableRawBufferPointer(rebasing: memory.prefix(most)))
    if case .bytes(let count) = result { unsafe bytes.append(contentsOf: memory[..<count]) }
    return result
  }
}
