import BelfryBytes

/// Who speaks through a WebSocket, and is spoken to.
package protocol WebSocketOwner: AnyObject {
  /// Called once, before anything else.
  func opened(_ socket: WebSocket)

  /// Whether more messages are taken now. If not, the client is not read from until ``WebSocket/takeMore()``.
  var takesMessages: Bool { get }

  /// A message of text has arrived. It is UTF-8.
  /// - Parameter held: counts a long message in a budget: keep it as long as the text.
  func received(_ text: [UInt8], held: HeldBytes?)

  /// So many control frames and short fragments have arrived, for which the owner was called in no other way.
  func received(lightFrames count: Int)

  /// Fills as much of the buffer as there is, in whole frames, or a part of one that the next calls go on with.
  func pull(into buffer: UnsafeMutableRawBufferPointer) -> WebSocketPull

  /// Called once; nothing else is called afterwards.
  func finished(_ end: HTTPStreamEnd)
}

package enum WebSocketPull: Sendable, Hashable {
  /// How many bytes are in the buffer. `more`: pull again. `isWhole`: the last frame ends with them, so that another
  /// may follow that is not the owner's.
  case bytes(Int, more: Bool, isWhole: Bool)
  case wait
  /// There will be nothing more: the client is told why.
  case end(WebSocketClose)
}
