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
  ]

  private static func send(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    return try await send(SendRequest(ObjectFields(of: request.body)), by: caller, services).response
  }

  /// The same as sending, and only for what can be recognised: what has arrived is not sent again, what has
  /// not is sent now.
  private static func resend(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    let body = try SendRequest(ObjectFields(of: request.body), isResend: true)
    try requireClientID(body.content)
    return try await send(body, by: caller, services).response
  }

  static func requireClientID(_ content: NotificationContent) throws(Refusal) {
    guard content.messageClientId != nil else {
      throw .invalid("messageClientId", "is needed: without it a resend is another notification")
    }
  }

  private static func send(
    _ body: SendRequest, by caller: Caller, _ services: LoopServices
  ) async throws(Refusal) -> SendReceipt {
    try await send([.success(body)], by: caller, services)[0].get()
  }

  /// Many at once, each with a result of its own; what was refused before stays so.
  static func send(
    _ bodies: [Result<SendRequest, Refusal>], by caller: Caller, _ services: LoopServices
  ) async -> [Result<SendReceipt, Refusal>] {
    var receipts: [Result<SendReceipt, Refusal>?] = Array(repeating: nil, count: bodies.count)
    // What is still to be sent of each, mostly one. The first of all go together, then the second.
    var sends: [ArraySlice<SendNotification>] = []
    sends.reserveCapacity(bodies.count)
    for (index, body) in bodies.enumerated() {
      do throws(Refusal) {
        sends.append(try Self.sends(body.get(), by: caller, services)[...])
      } catch {
        sends.append([])
        receipts[index] = .failure(error)
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
          if receipts[index] == nil { receipts[index] = .success(receipt) }
        } catch {
          receipts[index] = .failure(error)
          sends[index] = []
        }
      }
    }
    return receipts.map { $0 ?? .failure(Refusal(.unavailable, "there was nothing to send")) }
  }

  private static func sends(
    _ body: SendRequest, by caller: Caller, _ services: LoopServices
  ) throws(Refusal) -> [SendNotification] {
    let sends = try SendNotification.sends(
      body.content, by: caller.actor,
      generatedClientId: body.content.messageClientId ?? services.clientIDs.next())
    if let toType = body.toType, let meant = sends.first?.content.toType, toType != meant {
      throw .invalid(
        "toType", "says \(toType.rawValue), but the fields given make it \(meant.rawValue); leave it out")
    }
    if body.isDirect { services.owe(Price.receivers(body.content.toAccids?.count ?? 0), .sends, of: caller) }
    return sends
  }

  private static func update(
    _ request: Request, _ services: LoopServices, id: MessageID, body: String?, ext: String?, status: Int?
  ) async throws(Refusal) -> HTTPResponse {
    let actor = try request.actor
    let located = try await services.feed.find(id, for: actor.account)
    let operation = try UpdateNotification(
      located.entry, in: located.space, by: actor, body: body, ext: ext, status: status)
    let notification = try await services.runner.run(operation).output
    return .json(rendered: notification.json)
  }
}
