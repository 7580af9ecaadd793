import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

enum Sending {
  static let handlers: [Handler] = [
    NotificationRoutes.send.handled(by: send),
    NotificationRoutes.resend.handled(by: resend),
    NotificationRoutes.batch.handled(by: batch),
    NotificationRoutes.update.handled(by: update),
    NotificationRoutes.recall.handled(by: recall),
  ]

  private static func send(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    let body = try SendRequest(ObjectFields(of: request.body))
    return try await send(body, by: caller, request, services).response
  }

  static func send(
    _ body: SendRequest, by caller: Caller, _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> SendReceipt {
    let receipts = await send([.success(body)], by: caller, request, services) { prepared in
      let late = prepared[0].refusalOfLate
      request.answerIfLate { HTTPResponse(late) }
    }
    return try receipts[0].get()
  }

  /// The sends of one request, or the refusal of the request.
  typealias Prepared = Result<[SendNotification], Refusal>

  /// Carries out many requests at once, each with its own result. A request that was refused before stays
  /// refused.
  /// - Parameter begin: called with the sends before anything is sent.
  static func send(
    _ bodies: [Result<SendRequest, Refusal>], by caller: Caller, _ request: Request, _ services: LoopServices,
    begin: ([Prepared]) -> Void
  ) async -> [Result<SendReceipt, Refusal>] {
    let prepared: [Prepared] = bodies.map { body in
      Result { () throws(Refusal) in try Self.sends(body.get(), by: caller, services) }
    }
    begin(prepared)
    if services.callbacks.isEmpty { return await send(prepared.map { $0.map { AskedSends($0) } }, services) }
    // If several bodies have the same messageClientId, the second goes after the first was sent, and then is
    // its repetition.
    var receipts: [Result<SendReceipt, Refusal>?] = prepared.map { _ in nil }
    var open = Array(prepared.indices)
    while !open.isEmpty {
      var names: Set<RepeatedName> = []
      let going = open.filter { RepeatedName(prepared[$0]).map { names.insert($0).inserted } ?? true }
      await services.broker.askedOnce.hold(names)
      let asked = await services.asked(about: going.map { prepared[$0] }, of: request)
      for (index, receipt) in zip(going, await send(asked, services)) { receipts[index] = receipt }
      services.broker.askedOnce.release(names)
      open.removeAll { receipts[$0] != nil }
    }
    return receipts.compactMap(\.self)
  }

  private static func send(
    _ prepared: [Result<AskedSends, Refusal>], _ services: LoopServices
  ) async -> [Result<SendReceipt, Refusal>] {
    var receipts: [Result<SendReceipt, Refusal>?] = Array(repeating: nil, count: prepared.count)
    // The sends that remain for each request, usually one. The first sends of all requests go together, then
    // the second sends.
    var sends: [ArraySlice<SendNotification>] = []
    sends.reserveCapacity(prepared.count)
    for (index, asked) in prepared.enumerated() {
      switch asked {
      case .failure(let refusal):
        receipts[index] = .failure(refusal)
        sends.append([])
      case .success(let asked):
        let repeated = SendReceipt(repeating: asked)
        if let repeated { services.counts.count(repeated) }
        receipts[index] = repeated.map { .success($0) }
        sends.append(repeated == nil ? asked.sends : [])
      }
    }
    while true {
      let going = sends.indices.filter { !sends[$0].isEmpty }
      if going.isEmpty { break }
      let outcomes = await services.runner.run(going.map { sends[$0].removeFirst() })
      for (index, outcome) in zip(going, outcomes) {
        do throws(Refusal) {
          let receipt = try SendReceipt(outcome.get())
          services.counts.count(receipt)
          // If there are several sends, the receipt has the id of the first one, and is a duplicate only if
          // all of them are.
          guard case .success(var first)? = receipts[index] else {
            receipts[index] = .success(receipt)
            continue
          }
          first.isDuplicate = first.isDuplicate && receipt.isDuplicate
          receipts[index] = .success(first)
        } catch {
          receipts[index] = .failure(prepared[index].refusal(by: error, isPartlyDone: receipts[index] != nil))
          sends[index] = []
        }
      }
    }
    return receipts.map { $0 ?? .failure(Refusal(.unavailable, "there is nothing to send")) }
  }

  static func sends(
    _ body: SendRequest, by caller: Caller, _ services: LoopServices
  ) throws(Refusal) -> [SendNotification] {
    let sends = try SendNotification.sends(
      body.content, by: caller.actor,
      generatedClientId: body.content.messageClientId ?? services.clientIDs.next())
    if let toType = body.toType, let meant = sends.first?.content.toType, toType != meant {
      throw .invalid(
        "toType", "is \(toType.rawValue), but the other fields make it \(meant.rawValue); leave it out")
    }
    if body.isDirect { services.owe(Price.receivers(body.content.toAccids?.count ?? 0), .sends, of: caller) }
    return sends
  }

  private static func update(
    _ request: Request, _ services: LoopServices, id: MessageID, body: String?, ext: String?, status: Int?
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    let (actor, located) = (caller.actor, try await services.find(id, for: caller))
    let operation = try UpdateNotification(
      located.entry, in: located.space, by: actor, body: body, ext: ext, status: status)
    let notification = try await services.run(operation, of: request)
    return .json(rendered: notification.json)
  }

  private static func recall(
    _ request: Request, _ services: LoopServices, id: MessageID
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    let (actor, located) = (caller.actor, try await services.find(id, for: caller))
    _ = try await services.runner.run(RecallNotification(located.entry, in: located.space, by: actor))
    return .noContent
  }
}

// MARK: - Sends whose outcome is unknown

extension Refusal {
  /// The refusal that names the id with which the sends can be repeated. Sends without an id are remembered
  /// by the id that was made for them.
  /// - Parameter cause: why nobody knows.
  fileprivate static func unknownOutcome(
    of sends: some Collection<SendNotification>, because cause: String = "no answer came in time"
  ) -> Refusal {
    var refusal = Refusal(
      .unknownOutcome,
      "\(cause): the notification may or may not have been sent; repeat the send with this messageClientId, and it is sent only once",
      retryAfterSeconds: 1)
    refusal.messageClientId = sends.first?.content.messageClientId
    return refusal
  }
}

extension Result<[SendNotification], Refusal> {
  /// The refusal for sends that are still under way when their answer is due.
  var refusalOfLate: Refusal {
    switch self {
    case .success(let sends): .unknownOutcome(of: sends)
    case .failure(let refusal): refusal
    }
  }
}

extension Result<AskedSends, Refusal> {
  /// - Parameter isPartlyDone: true if some of the sends were done before one of them was refused.
  fileprivate func refusal(by error: Refusal, isPartlyDone: Bool) -> Refusal {
    let isOpen = error.code == .unknownOutcome || isPartlyDone && error.code == .unavailable
    guard isOpen, case .success(let asked) = self else { return error }
    if error == .halfwayForWantOfARight {
      return .unknownOutcome(of: asked.sends, because: Refusal.wantOfARight)
    }
    return .unknownOutcome(of: asked.sends)
  }
}
