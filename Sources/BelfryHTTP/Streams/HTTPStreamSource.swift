/// The source of a stream's bytes. The stream pulls them when its socket can take them, so a client that
/// reads slowly costs no memory.
package protocol HTTPStreamSource: AnyObject {
  /// Fills as much of the buffer as there are bytes.
  func pull(into buffer: UnsafeMutableRawBufferPointer) -> HTTPPull

  /// Called once; nothing is pulled afterwards.
  func finished(_ end: HTTPStreamEnd)
}

/// Receives the bytes that the client of a stream sends. A stream without a receiver takes nothing.
protocol HTTPStreamReceiver: AnyObject {
  /// True if more bytes are taken now. The stream must be told when this changes.
  var wantsBytes: Bool { get }

  func received(_ bytes: [UInt8])
}

package enum HTTPPull: Sendable, Hashable {
  /// The number of bytes in the buffer. `more`: pull again; otherwise the stream waits for `wake()`.
  case bytes(Int, more: Bool)
  /// There is nothing now: the stream pulls again after `wake()`.
  case wait
  /// There will be nothing more.
  case end
}

/// How a stream came to its end.
package enum HTTPStreamEnd: Sendable, Hashable {
  /// The source ended it and the client was sent everything.
  case ended
  case clientGone
  /// The client took nothing for as long as the limit allows.
  case stalled
  /// There are too many streams; the client was told.
  case refused
  /// The server stopped.
  case stopping
}
