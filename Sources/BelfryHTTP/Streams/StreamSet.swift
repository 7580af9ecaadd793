import BelfryLoop

/// A server's open streams, and which of them have something to send.
final class StreamSet {
  let loop: EventLoop
  let stallTime: Duration
  let socketCloseTime: Duration
  let buffer = ChunkBuffer(payloadBytes: HTTPLimits.streamChunkBytes)
  /// Called when a stream has ended.
  var onRemoved: (() -> Void)?
  private var streams: [HTTPStream] = []
  /// The streams that have something to send, in the order in which they were woken.
  private var awake = Queue<HTTPStream>()
  /// How many more streams may send in this turn of the loop.
  private var turnsLeft = HTTPLimits.streamsPerTurn

  init(loop: EventLoop, limits: HTTPLimits) {
    self.loop = loop
    (stallTime, socketCloseTime) = (limits.streamStallTime, limits.socketCloseTime)
  }

  var count: Int { streams.count }
  var hasAwake: Bool { !awake.isEmpty }

  func insert(_ stream: HTTPStream) {
    stream.position = streams.count
    streams.append(stream)
    stream.wake()
  }

  func wake(_ stream: HTTPStream) {
    guard !stream.isAwake else { return }
    stream.isAwake = true
    awake.append(stream)
    loop.requireHooks()
  }

  /// Removes a stream; the last one takes its index.
  func remove(_ stream: HTTPStream) {
    guard stream.position < streams.count, streams[stream.position] === stream else { return }
    defer { onRemoved?() }
    let last = streams.removeLast()
    guard last !== stream else { return }
    streams[stream.position] = last
    last.position = stream.position
  }

  /// Lets woken streams send, as many as a turn of the loop allows. The rest are first in the next turn.
  /// - Returns: true if there is room for more in this turn.
  func pump() -> Bool {
    // A stream that is woken again while it sends waits for another round.
    for _ in 0..<min(awake.count, turnsLeft) {
      turnsLeft -= 1
      awake.popFirst()?.pump()
    }
    return turnsLeft > 0
  }

  func beginTurn() { turnsLeft = HTTPLimits.streamsPerTurn }

  func finishAll(_ end: HTTPStreamEnd) {
    while let stream = streams.last { stream.finish(end) }
  }
}
