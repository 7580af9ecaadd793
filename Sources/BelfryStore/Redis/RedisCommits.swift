import BelfryLoop
import BelfryModel
import BelfryRedis

/// Collects transactions and sends them to Redis. Transactions of one partition that come in one turn of the
/// loop leave as one call at its end. They share the call, the reading of the clock, the comparison of
/// records and the publishing, which are most of a send's cost for Redis. A call that has only sends uses a
/// function of its own (`send.lua`), any other `commit`.
///
/// Each transaction is carried out or refused on its own, in the order in which they came. If no answer
/// comes, either all of the call was carried out or nothing, and it is not known which.
final class RedisCommits {
  /// So many sends take Redis about three milliseconds, in which it serves nobody else. Larger calls save no more.
  static let commitsPerCall = 128
  /// Nothing is added to a call beyond this size, so a call exceeds it by one transaction at most.
  static let bytesPerCall = 256 << 10

  /// A call to which transactions can still be added, and the callers that wait for them.
  private struct OpenCall {
    enum Arguments {
      /// Sends only.
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
  private let redis: RedisCluster
  private let layout: RedisLayout
  private let limits: Limits
  private let limitsOfSends: String
  /// False: sends go through `commit` as well, with the same outcomes. For tests.
  var usesSendFunctions = true
  /// The calls of this turn, in the order in which they were begun.
  private var open: [OpenCall] = []
  private var places: [Partition: Int] = [:]
  private var hook: LoopHook?
  /// See ``RedisStore/onWrite``.
  var onWrite: ((WriteSign) -> Void)?

  init(loop: EventLoop, redis: RedisCluster, layout: RedisLayout, limits: Limits) {
    self.layout = layout
    self.loop = loop
    self.redis = redis
    self.limits = limits
    limitsOfSends = SendCall.text(limits)
  }

  /// Calls are sent in the phase before that in which connections write, so in the same turn.
  func start() { hook = loop.beforeWaiting(.commit) { [weak self] in self?.sendAll() } }

  func close() {
    hook?.cancel()
    hook = nil
    sendAll()
  }

  func add(_ request: CommitRequest) {
    for index in request.transactions.indices { add(CommitRequest.Place(request: request, index: index)) }
    // Before `start()` and after `close()` nothing else would send it.
    if hook == nil { sendAll() } else { loop.requireHooks() }
  }

  private func add(_ place: CommitRequest.Place) {
    let partition = layout.partition(of: place.space)
    if let index = places[partition], !open[index].isFull, add(place, to: &open[index]) { return }
    // The place of a call that is full, or has an equal send, is kept: transactions that are added to the
    // partition now come after it.
    var call = OpenCall(
      partition: partition, arguments: isSend(place) ? .sends(SendCall()) : .any(newCall(partition)))
    _ = add(place, to: &call)
    places[partition] = open.count
    open.append(call)
  }

  private func isSend(_ place: CommitRequest.Place) -> Bool { usesSendFunctions && place.plainSend != nil }

  private func newCall(_ partition: Partition) -> CommitCall {
    CommitCall(
      layout.call(.commit, in: partition, isGuarded: !redis.isSingle), limits, of: layout.partitions)
  }

  /// - Returns: false if the transaction has to go in another call. This never happens with a call of
  ///   commits.
  private func add(_ place: CommitRequest.Place, to call: inout OpenCall) -> Bool {
    switch call.arguments {
    case .sends(var sends):
      guard usesSendFunctions, let send = place.plainSend else {
        // Another kind of transaction comes after sends. One call does them all, in their order.
        let sends = call.places
        call.places = []
        call.arguments = .any(newCall(call.partition))
        for send in sends { _ = add(send, to: &call) }
        return add(place, to: &call)
      }
      // The array must have one owner at a time, or it would be copied.
      call.arguments = .sends(SendCall())
      let isAdded = sends.add(send)
      call.arguments = .sends(sends)
      if isAdded { call.places.append(place) }
      return isAdded
    case .any(var commits):
      call.arguments = .sends(SendCall())
      do throws(StoreError) {
        try place.add(to: &commits)
        call.places.append(place)
      } catch {
        place.finish(.failure(error))
      }
      call.arguments = .any(commits)
      return true
    }
  }

  private func sendAll() {
    guard !open.isEmpty else { return }
    let calls = open
    open = []
    places.removeAll(keepingCapacity: true)
    for call in calls where !call.places.isEmpty { send(call, isAgain: false) }
  }

  /// Sends the call. If the library is missing, it is loaded and the call repeated: a call that found no
  /// function has done nothing.
  private func send(_ call: OpenCall, isAgain: Bool) {
    redis.send(to: layout.slot(of: call.partition), isAwaited: true) { [self] output in
      if isAgain { output.append(FunctionLibrary.load) }
      write(call, to: output)
    } then: { [self] result in
      do throws(RedisError) {
        let replies = try result.get()
        if isAgain, case .error(let message) = replies[0] {
          if replies[0].isFromReplica { redis.lookAgain() }
          throw .replied(message, to: "loading the function library")
        }
        let reply = replies[replies.count - 1]
        if !isAgain, FunctionLibrary.isMissing(reply) { return send(call, isAgain: true) }
        if reply.isFromReplica { redis.lookAgain() }
        let answer = try reply.bytes()
        if !redis.isCluster { onWrite?(.done) }
        finish(call, answer)
      } catch {
        if let refusal = error.writeRefusal { onWrite?(.refused(refusal, error.cause)) }
        for place in call.places {
          place.finish(.failure(StoreError(error, ofWrite: true, at: place.description)))
        }
      }
    }
  }

  private func write(_ call: OpenCall, to output: OutputBuffer) {
    switch call.arguments {
    case .sends(let sends):
      sends.write(
        to: output, in: call.partition, layout, isGuarded: !redis.isSingle, limits: limitsOfSends)
    case .any(let commits): output.append(commits.command)
    }
  }

  private func finish(_ call: OpenCall, _ answer: ArraySlice<UInt8>) {
    if case .sends = call.arguments {
      var answer = SendAnswer(answer)
      for place in call.places { finish(place, place.result(answer.next())) }
    } else {
      var lines = Words(rest: answer, separator: UInt8(ascii: "\n"))
      for place in call.places {
        let line = lines.next() ?? []
        finish(place, place.result((place.outcome(line), line)))
      }
    }
  }

  private func finish(_ place: CommitRequest.Place, _ result: CommitResult) {
    switch result {
    case .success(.committed): if let echo = place.echo { publish(echo) }
    // A function gives the refusal of one of its sends as an answer.
    case .failure(let error) where error.code == .accessRefused: onWrite?(.refused(.rights, error.detail))
    case .success, .failure: break
    }
    place.finish(result)
  }

  /// Tells the account's other devices. Not part of the commit, since it concerns another partition, and not waited for:
  /// devices that are not connected, or whose connection is lost meanwhile, find the new state when they come.
  private func publish(_ echo: DeviceEcho) {
    let message = LiveText.device(echo)
    redis.post(RedisCommand("SPUBLISH", layout.live(.personal(echo.account)), message))
  }
}

extension CommitRequest.Place {
  /// - Parameter answer: the function's line for the transaction, and the outcome in it, nil if the line has none.
  fileprivate func result(_ answer: (outcome: CommitOutcome?, line: ArraySlice<UInt8>)) -> CommitResult {
    if let outcome = answer.outcome { return .success(outcome) }
    let line = answer.line
    let text = String(decoding: line, as: UTF8.self)
    guard text.hasPrefix("failed ") else {
      var failure = StoreError(.corrupt, "the function's answer \(text)", at: description)
      failure.mayBeDone = true
      return .failure(failure)
    }
    let error = RedisError.replied(String(text.dropFirst(7)), to: "commit")
    var failure = StoreError(error, at: description)
    // To undo what was done before it needs rights as well.
    failure.mayBeDone = error.isRefusedWithinFunction
    return .failure(failure)
  }
}
