import BelfryLoop
import BelfryModel
import BelfryRedis

/// Commits on their way to Redis: sends by functions of their own as long as nothing else is among them. Those of one partition that come in the same turn of the loop, whoever asks
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
    enum Arguments {
      /// Of sends and nothing else.
      case sends(SendCall)
      case any(CommitCall)

      var byteCount: Int {
        switch self {
        case .sends(let call): call.byteCount
        case .any(let call): call.command.byteCount
        }
      }
    }

    let partition: Partition
    var arguments: Arguments
    var places: [CommitRequest.Place] = []

    var isFull: Bool { places.count >= commitsPerCall || arguments.byteCount >= bytesPerCall }
  }

  private let loop: EventLoop
  private let connection: RedisConnection
  private let layout: RedisLayout
  private let limits: Limits
  private let limitsOfSends: String
  /// False: sends go by `commit`, as everything else does; the outcomes are the same.
  var usesSendFunctions = true
  /// In the order in which they were begun.
  private var open: [OpenCall] = []
  private var places: [Partition: Int] = [:]
  private var hook: LoopHook?

  init(loop: EventLoop, connection: RedisConnection, layout: RedisLayout, limits: Limits) {
    self.layout = layout
    self.loop = loop
    self.connection = connection
    self.limits = limits
    limitsOfSends = SendCall.text(limits)
  }

  /// Before the connection starts: what runs at the end of a turn does so in the order in which it was asked
  /// for, and what leaves here is then written in the same turn.
  func start() { hook = loop.beforeWaiting(.commit) { [weak self] in self?.sendAll() } }

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
          partition: partition, arguments: isSend(place) ? .sends(SendCall()) : .any(newCall(partition))))
      places[partition] = index
    }
    add(place, to: &open[index])
  }

  private func isSend(_ place: CommitRequest.Place) -> Bool { usesSendFunctions && place.isPlainSend }

  private func newCall(_ partition: Partition) -> CommitCall {
    CommitCall(layout.call(.commit, in: partition), limits, of: layout.partitions)
  }

  private func add(_ place: CommitRequest.Place, to call: inout OpenCall) {
    switch call.arguments {
    case .sends(var sends) where isSend(place):
      // One owner at a time, or what is there would be copied.
      call.arguments = .sends(SendCall())
      place.add(to: &sends)
      call.arguments = .sends(sends)
      call.places.append(place)
    case .sends:
      // Something else comes behind sends: one call does them all, in their order.
      let sends = call.places
      call.places = []
      call.arguments = .any(newCall(call.partition))
      for send in sends { add(send, to: &call) }
      add(place, to: &call)
    case .any(var commits):
      call.arguments = .sends(SendCall())
      do throws(StoreError) {
        try place.add(to: &commits)
        call.places.append(place)
      } catch {
        place.finish(.failure(error))
      }
      call.arguments = .any(commits)
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
    let command = command(call)
    let commands = isAgain ? [FunctionLibrary.load, command] : [command]
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

  private func command(_ call: OpenCall) -> RedisCommand {
    switch call.arguments {
    case .sends(let sends): sends.command(in: call.partition, layout, limits: limitsOfSends)
    case .any(let commits): commits.command
    }
  }

  private func finish(_ call: OpenCall, _ answer: ArraySlice<UInt8>) {
    if case .sends = call.arguments {
      var answer = SendAnswer(answer)
      for place in call.places { finish(place, place.result(place.outcome(&answer))) }
    } else {
      var lines = Words(rest: answer, separator: UInt8(ascii: "\n"))
      for place in call.places {
        let line = lines.next() ?? []
        finish(place, place.result((place.outcome(line), line)))
      }
    }
  }

  private func finish(_ place: CommitRequest.Place, _ result: CommitResult) {
    if case .success(.committed) = result, let echo = place.echo { publish(echo) }
    place.finish(result)
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
  /// - Parameter answer: what the function's line for it says; nil where it says no outcome.
  fileprivate func result(_ answer: (outcome: CommitOutcome?, line: ArraySlice<UInt8>)) -> CommitResult {
    if let outcome = answer.outcome { return .success(outcome) }
    let line = answer.line
    let text = String(decoding: line, as: UTF8.self)
    guard text.hasPrefix("failed ") else {
      return .failure(StoreError(.corrupt, "the function's answer \(text)", at: description))
    }
    return .failure(StoreError(.replied(String(text.dropFirst(7)), to: "commit"), at: description))
  }
}
