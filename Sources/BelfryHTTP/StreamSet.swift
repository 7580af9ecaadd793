import BelfryLoop

/// A daemon's open streams, and those of them that have something to send.
final class StreamSet {
  let loop: EventLoop
  let stallTime: Duration
  let buffer = ChunkBuffer(payloadBytes: HTTPLimits.streamChunkBytes)
  private var streams: [HTTPStream] = []
  private var awake: [HTTPStream] = []
  private var pumping: [HTTPStream] = []

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
    let last = streams.removeLast()
    guard last !== stream else { return }
    streams[stream.position] = last
    last.position = stream.position
  }

  /// Gives each that is awake a turn. Who is woken meanwhile, or has more than a turn's worth, has the next.
  func pump() {
    swap(&awake, &pumping)
    for stream in pumping { stream.pump() }
    pumping.removeAll(keepingCapacity: true)
  }

  func finishAll(_ end: HTTPStreamEnd) {
    while let stream = streams.last { stream.finish(end) }
  }
}
