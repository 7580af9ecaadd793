import BelfryLoop

/// A daemon's open streams, and those of them that have something to send.
final class StreamSet {
  let loop: EventLoop
  let stallTime: Duration
  let buffer = ChunkBuffer(payloadBytes: HTTPLimits.streamChunkBytes)
  /// Called when one has ended.
  var onRemoved: (() -> Void)?
  private var streams: [HTTPStream] = []
  /// Those that have something to send, in the order in which they were woken.
  private var awake = Queue<HTTPStream>()
  /// How many more have their turn in the loop's present one.
  private var turnsLeft = HTTPLimits.streamsPerTurn

  init(loop: EventLoop, stallTime: Duration) {
    self.loop = loop
    self.stallTime = stallTime
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

  /// The last one takes its place.
  func remove(_ stream: HTTPStream) {
    guard stream.position < streams.count, streams[stream.position] === stream else { return }
    defer { onRemoved?() }
    let last = streams.removeLast()
    guard last !== stream else { return }
    streams[stream.position] = last
    last.position = stream.position
  }

  /// Gives those that are awake their turns, as many as fit into one of the loop's. The others keep their
  /// places; who is woken meanwhile, or has more than a turn's worth, comes after them.
  /// - Returns: whether there is room for more in the loop's turn.
  func pump() -> Bool {
    // Those that it wakes again have had their turn.
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
