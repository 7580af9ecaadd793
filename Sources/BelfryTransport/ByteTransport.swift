/// The bytes of one connection, read and written without waiting. On its loop's thread alone.
package protocol ByteTransport: AnyObject {
  /// For the loop to watch. Whatever is left to be read makes it readable, whether or not the transport has more to do than
  /// the kernel.
  var descriptor: Int32 { get }

  /// Takes what has arrived, at most as much as the buffer holds.
  /// - Parameter buffer: with room for a record of TLS, ``TLSTransport/recordBytes``. With less, a part of what was decrypted
  ///   would stay in the transport, and no event of the descriptor would tell of it.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportResult

  /// Gives as much as is taken at once. What was not taken comes again, first in the next call, or nothing comes any more.
  func write(_ bytes: UnsafeRawBufferPointer) -> TransportResult

  /// Says that nothing more will be written. What the other side sends is still read.
  func finishWriting()

  /// Called once. What was written and not yet sent still goes out.
  func close()

  /// Why the connection is lost, in the system's words or OpenSSL's.
  var lossCause: String { get }
}

package enum TransportResult: Sendable, Hashable {
  /// How many; at least one.
  case bytes(Int)
  /// Nothing now: the loop says when.
  case wait
  /// The other side sends no more. Of reading only.
  case end
  /// The connection is lost.
  case lost
}
