/// Where the bytes of a stream come from. The stream asks when its socket can take them, so that a client
/// that reads slowly holds a place in the source and no memory.
package protocol HTTPStreamSource: AnyObject {
  /// Fills as much of the buffer as there is.
  func pull(into buffer: UnsafeMutableRawBufferPointer) -> HTTPPull

  /// Called once; nothing is pulled afterwards.
  func finished(_ end: HTTPStreamEnd)
}

package enum HTTPPull: Sendable, Hashable {
  /// That many bytes are in the buffer. `more`: there may be some after them; otherwise it waits, as below.
  case bytes(Int, more: Bool)
  /// There are none now: the stream asks again after `wake()`.
  case wait
  /// There will be none.
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
  /// The daemon stopped.
  case stopping
}
