import BelfryHooks
import BelfryInterface
import BelfryModel
import BelfryStore

// Asks callbacks before something is done. Callbacks are not asked about requests that the rules refuse, or
// about sends that were done before. So a callback sees only changes that would happen, and a stranger causes
// no questions.

extension LoopServices {
  /// Carries an operation out, if the callback that is configured for it allows it.
  func run<Op: NamedOperation>(
    _ operation: Op, of request: Request
  ) async throws(Refusal) -> OperationRunner.Done<Op.Output> {
    let mayAsk =
      !callbacks.isEmpty
      && Op.names.contains { callbacks.callback(for: $0.event, env: nil, by: operation.actor) != nil }
    guard mayAsk else {
      let done = try await runner.run(operation)
      if done.commit != nil { request.notePartlyDone() }
      return done
    }
    var allowed: Set<OperationName> = []
    for _ in 0..<Self.decisionsMax {
      let decision = try await runner.decide(operation)
      // Nothing would change, so nobody is asked.
      guard let transaction = decision.transaction else {
        return OperationRunner.Done(output: decision.output)
      }
      let name = transaction.echo?.operation ?? operation.echoName
      if !allowed.contains(name),
        let callback = callbacks.callback(for: name.event, env: nil, by: operation.actor)
      {
        let question = CallbackQuestion(
          name.event, by: operation.actor, from: request.address,
          .operation(target: operation.target, request: request.body))
        request.allowMoreTime(seconds: Self.askingMaxSeconds)
        try await callbacks.ask(callback, question) { answer throws(Refusal) in try answer.decideOnly() }
      }
      allowed.insert(name)
      // Only the decision that the callback was asked about is committed. When it is decided again, the
      // operation may have become another event.
      guard let done = try await runner.commit(decision, of: operation) else { continue }
      if done.commit != nil { request.notePartlyDone() }
      return done
    }
    throw Self.conflict(in: operation.space)
  }

  /// The most decisions on an operation while others keep changing the records that it depends on. Callbacks
  /// are asked about each event once, because the question would be the same.
  private static let decisionsMax = 16
  /// The most questions about one update. If others have updated the notification too, it is another update.
  private static let updatesAskedMax = 3

  private static func conflict(in space: SpaceID) -> Refusal {
    Refusal(.conflict, "\(space) is being changed by too many requests; try again", retryAfterSeconds: 1)
  }

  /// Asks callbacks about sends, each by itself and all at the same time.
  /// - Parameter sends: the sends of one request each. They differ only in the receiver.
  func asked(
    about sends: [Result<[SendNotification], Refusal>], of request: Request
  ) async -> [Result<AskedSends, Refusal>] {
    let found = AskedResults(sends.map { $0.map { AskedSends($0) } })
    var works: [() async -> Void] = []
    for (index, result) in sends.enumerated() {
      guard case .success(let sends) = result, let first = sends.first,
        let callback = callbacks.callback(
          for: CallbackEvent.send, env: first.content.env, by: first.actor)
      else { continue }
      works.append { [self] in
        do throws(Refusal) {
          found.results[index] = .success(try await ask(callback, about: sends, first, of: request))
        } catch {
          found.results[index] = .failure(error)
        }
      }
    }
    if works.isEmpty { return found.results }
    request.allowMoreTime(seconds: Self.askingMaxSeconds)
    if works.count == 1 { await works[0]() } else { await scope.all(works) }
    return found.results
  }

  /// A question may wait for its turn as long as for its answer.
  private static let askingMaxSeconds = 2 * CallbackSettings.timeoutMilliseconds.upperBound / 1_000

  private func ask(
    _ callback: Int, about sends: [SendNotification], _ first: SendNotification, of request: Request
  ) async throws(Refusal) -> AskedSends {
    let repeated = sends.compactMap(\.repetition?.send)
    if !repeated.isEmpty {
      let known: [FirstSend] = try await reading { () async throws(StoreError) in
        try await store.firstSends(of: repeated)
      }
      if known.contains(.different) { throw .duplicateContent }
      // If the first try ended midway, the commit recognises the receivers that it reached.
      if let first = known.first, !known.contains(.unknown) { return AskedSends(sends, repeating: first) }
    }
    _ = try await runner.decide(first)
    let question = CallbackQuestion(
      CallbackEvent.send, by: first.actor, from: request.address, .notification(first.content.text.bytes))
    let made = try await callbacks.ask(callback, question) { answer throws(Refusal) in
      var made: [SendNotification] = []
      for send in sends { made.append(try send.following(answer)) }
      return made
    }
    return AskedSends(made)
  }

  /// Carries out an update if the callback allows it, and returns the notification after it.
  func run(_ update: UpdateNotification, of request: Request) async throws(Refusal) -> Notification {
    let env = NotificationContent(json: update.entry.content)?.env
    guard let callback = callbacks.callback(for: CallbackEvent.update, env: env, by: update.actor) else {
      return try await runner.run(update).output
    }
    for _ in 0..<Self.updatesAskedMax {
      request.allowMoreTime(seconds: Self.askingMaxSeconds)
      let intended = try await runner.decide(update)
      let question = CallbackQuestion(
        CallbackEvent.update, by: update.actor, from: request.address, .notification(intended.output.json))
      let made = try await callbacks.ask(callback, question) { answer throws(Refusal) in
        try update.following(answer)
      }
      guard let made else { return intended.output }
      let decision = try await runner.decide(made)
      // With other records, it would be another notification than the one that the callback was asked about.
      guard decision.transaction?.preconditions == intended.transaction?.preconditions,
        let done = try await runner.commit(decision, of: made)
      else { continue }
      return done.output
    }
    throw Self.conflict(in: update.space)
  }
}

/// The sends of a request after the callback has answered.
struct AskedSends {
  var sends: ArraySlice<SendNotification>
  /// The first send, if they were sent before. Then the callback was not asked again.
  var first: FirstSend?

  init(_ sends: [SendNotification], repeating first: FirstSend? = nil) {
    self.sends = sends[...]
    self.first = first
  }
}

/// The results of questions that are asked at the same time, on the loop's thread.
private final class AskedResults {
  var results: [Result<AskedSends, Refusal>]
  init(_ results: [Result<AskedSends, Refusal>]) { self.results = results }
}

extension CallbackAnswer {
  /// A callback can only allow or deny an operation: it cannot change anything or remove receivers.
  fileprivate func decideOnly() throws(Refusal) {
    switch decision {
    case .allow: return
    case .deny(let denial): throw denial.refusal
    // A callback that answers "silent" does not want the operation to happen.
    case .silent: throw CallbackDenial().refusal
    }
  }
}
