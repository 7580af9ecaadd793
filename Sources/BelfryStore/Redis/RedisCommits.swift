import BelfryLoop
import BelfryModel
import BelfryRedis

/// Commits on their way to Redis. Those of one partition that come in the same turn of the loop, whoever asks
/// for them, leave as one call at its end: most of what a send costs Redis is the call, the clock, the records
/// that are compared and the live channel, and those they share.
///
/// Each is done or refused by itself, in the order in which they came. If no answer comes, all of a call was
/// done or nothing of it, and which of the two nobody knows, as with a single commit.
final class RedisCommits {
  /// So many sends take Redis about three milliseconds, in which it serves nobody else; what sharing saves is
  /// saved by then.
  static let commitsPerCall = 128
  /// A call takes no more once it has so many bytes. So it is longer than this by one commit at most, however
  /// large they are.
  static let bytesPerCall = 256 << 10

  /// A call that more can be added to, and for whom.
  private struct OpenCall {
    let partition: Partition
    var call: CommitCall
    var places: [CommitRequest.Place] = []

    var isFull: Bool { places.count >= commitsPerCall || call.command.byteCount >= bytesPerCall }
  }

  private let loop: EventLoop
  private let connection: RedisConnection
  private let layout: RedisLayout
  private let limits: Limits
  /// In the order in which they were begun.
  private var open: [OpenCall] = []
  private var places: [Partition: Int] = [:]
  private var hook: LoopHook?

  init(loop: EventLoop, connection: RedisConnection, layout: RedisLayout, limits: Limits) {
    self.layout = layout
    self.loop = loop
    self.connection = connection
    self.limits = limits
  }

  /// Before the connection starts: what runs at the end of a turn does so in the order in which it was asked
  /// for, and what leaves here is then written in the same turn.
  func start() { hook = loop.beforeWaiting { [weak self] in self?.sendAll() } }

  func close() {
    hook?.cancel()
    hook = nil
    sendAll()
  }

  func add(_ request: CommitRequest) {
    for index in request.transactions.indices { add(CommitRequest.Place(request: request, index: index)) }
    // Nothing would send it later.
    if hook == nil { sendAll() } else { loop.requireHooks() }
  }

  private func add(_ place: CommitRequest.Place) {
    let partition = layout.partition(of: place.space)
    var index = places[partition] ?? open.count
    if index < open.count, open[index].isFull {
      // Its place in the order is kept: what is added to the partition now comes after it.
      index = open.count
    }
    if index == open.count {
      open.append(
        OpenCall(
          partition: partition,
          call: CommitCall(layout.call(.commit, in: partition), limits, of: layout.partitions)))
      places[partition] = index
    }
    do throws(StoreError) {
      try place.add(to: &open[index].call)
      open[index].places.append(place)
    } catch {
      place.finish(.failure(error))
    }
  }

  private func sendAll() {
    guard !open.isEmpty else { return }
    let calls = open
    open = []
    places = [:]
    for call in calls where !call.places.isEmpty { send(call, isAgain: false) }
  }

  /// Loads the library first where it is missing: a call that found no function has done nothing.
  private func send(_ call: OpenCall, isAgain: Bool) {
    let commands = isAgain ? [FunctionLibrary.load, call.call.command] : [call.call.command]
    connection.send(commands) { [self] result in
      do throws(RedisError) {
        let replies = try result.get()
        if isAgain, case .error(let message) = replies[0] {
          throw .replied(message, to: "loading the function library")
        }
        let reply = replies[commands.count - 1]
        if !isAgain, FunctionLibrary.isMissing(reply) { return send(call, isAgain: true) }
        try finish(call, reply.bytes())
      } catch {
        for place in call.places { place.finish(.failure(StoreError(error, at: place.description))) }
      }
    }
  }

  private func finish(_ call: OpenCall, _ answer: ArraySlice<UInt8>) {
    var lines = Words(rest: answer, separator: UInt8(ascii: "\n"))
    for place in call.places {
      let result = place.result(lines.next() ?? [])
      if case .success(.committed) = result, let echo = place.echo { publish(echo) }
      place.finish(result)
    }
  }

  /// An event of the moment, and kept nowhere: a device that is away has nothing on its screen to bring up
  /// to date, and finds everything as it is when it comes. So the commit does not wait for this, and it is
  /// no part of it, for it lies in another partition. What is lost with the connection stays lost.
  private func publish(_ echo: DeviceEcho) {
    let message = LiveText.device(echo)
    connection.post(RedisCommand("SPUBLISH", layout.live(.personal(echo.account)), message))
  }
}

extension CommitRequest.Place {
  fileprivate func result(_ line: ArraySlice<UInt8>) -> CommitResult {
    if let outcome = outcome(line) { return .success(outcome) }
    let text = String(decoding: line, as: UTF8.self)
    guard text.hasPrefix("failed ") else {
      return .failure(StoreError(.corrupt, "the function's answer \(text)", at: description))
    }
    return .failure(StoreError(.replied(String(text.dropFirst(7)), to: "commit"), at: description))
  }
}
