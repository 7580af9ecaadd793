import BelfryBytes

/// The owner of a WebSocket: it sends messages through the socket, and receives the client's messages.
package protocol WebSocketOwner: AnyObject {
  /// Called once, before anything else.
  func opened(_ socket: WebSocket)

  /// True if more messages are taken now. If not, the client is not read from until ``WebSocket/takeMore()``.
  var takesMessages: Bool { get }

  /// A message of text has arrived. It is UTF-8.
  /// - Parameter held: counts a long message in a budget: keep it as long as the text.
  func received(_ text: [UInt8], held: HeldBytes?)

  /// This number of control frames and short fragments has arrived. The owner was not called for them in
  /// another way.
  func received(lightFrames count: Int)

  /// Fills as much of the buffer as there are bytes, in whole frames or a part of one. The next calls go on
  /// with that frame.
  func pull(into buffer: UnsafeMutableRawBufferPointer) -> WebSocketPull

  /// Called once; nothing else is called afterwards.
  func finished(_ end: HTTPStreamEnd)
}

package enum WebSocketPull: Sendable, Hashable {
  /// The number of bytes in the buffer. `more`: pull again. `isWhole`: the last frame ends with them, so that
  /// a frame may follow that is not the owner's.
  case bytes(Int, more: Bool, isWhole: Bool)
  case wait
  /// No more bytes will come; the client receives the reason.
  case end(WebSocketClose)
}
