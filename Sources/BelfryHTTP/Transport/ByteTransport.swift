/// The bytes of one connection, read and written without waiting. On its loop's thread alone.
package protocol ByteTransport: AnyObject {
  /// For the loop to watch.
  var descriptor: Int32 { get }

  /// Takes what has arrived, at most as much as the buffer holds.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportResult

  /// Gives as much as is taken at once.
  func write(_ bytes: UnsafeRawBufferPointer) -> TransportResult

  /// Says that nothing more will be written. What the other side sends is still read.
  func finishWriting()

  /// Called once. What was written and not yet sent still goes out.
  func close()
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
