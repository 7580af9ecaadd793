import BelfryLoop

/// A daemon's open streams, and those of them that have something to send.
final class StreamSet {
  let loop: EventLoop
  let stallTime: Duration
  let buffer = ChunkBuffer(payloadBytes: HTTPLimits.streamChunkBytes)
  private var streams: [HTTPStream] = []
  /// Those that have something to send, in the order in which they were woken, from `awakeStart` on.
  private var awake: [HTTPStream] = []
  private var awakeStart = 0

  init(loop: EventLoop, stallTime: Duration) {
    self.loop = loop
    self.stallTime = stallTime
  }

  var count: Int { streams.count }
  var hasAwake: Bool { awakeStart < awake.count }

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
    let last = streams.removeLast()
    guard last !== stream else { return }
    streams[stream.position] = last
    last.position = stream.position
  }

  /// Gives those that are awake their turns, as many as fit into one of the loop's. The others keep their
  /// places; who is woken meanwhile, or has more than a turn's worth, comes after them.
  func pump() {
    let end = min(awake.count, awakeStart + HTTPLimits.streamsPerTurn)
    while awakeStart < end {
      let stream = awake[awakeStart]
      awakeStart += 1
      stream.pump()
    }
    // Moved to the front only when half of it is used up, it costs each stream one move at most.
    guard awakeStart * 2 >= awake.count else { return }
    awake.removeFirst(awakeStart)
    awakeStart = 0
  }

  func finishAll(_ end: HTTPStreamEnd) {
    while let stream = streams.last { stream.finish(end) }
  }
}
