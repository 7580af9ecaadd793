/// The bytes of one connection, read and written without waiting. On its loop's thread alone.
package protocol ByteTransport: AnyObject {
  /// The descriptor for the loop to watch. It is readable whenever bytes are left to be read, even if the
  /// transport has more to do than the kernel.
  var descriptor: Int32 { get }

  /// Takes what has arrived, at most as much as the buffer holds.
  /// - Parameter buffer: with room for a record of TLS, ``TLSTransport/recordBytes``. With less, a part of what was decrypted
  ///   would stay in the transport, and no event of the descriptor would tell of it.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportResult

  /// Writes as many bytes as are taken at once. The bytes that were not taken must come first in the next
  /// call, unless nothing more is written.
  func write(_ bytes: UnsafeRawBufferPointer) -> TransportResult

  /// Says that nothing more will be written. Bytes from the other side are still read.
  func finishWriting()

  /// Called once. Bytes that were written and not yet sent still go out.
  func close()

  /// The reason for the loss of the connection, in the system's words or OpenSSL's.
  var lossCause: String { get }
}

package enum TransportResult: Sendable, Hashable {
  /// The number of bytes; at least one.
  case bytes(Int)
  /// Nothing now; the loop tells when to try again.
  case wait
  /// The other side sends no more. Only reads return this.
  case end
  /// The connection is lost.
  case lost
}
