import BelfryModel
import BelfryStore

enum Sending {
  static let linesMeaning =
    "one notification a line, each as the body of `POST /v1/notifications`; at most "
    + "\(Limits.notificationsPerBatch)"

  static let body = Field("body", .text(bytes: 0...Limits.bodyBytes), "the new body")
  static let ext = Field("ext", .text(bytes: 0...Limits.extBytes), "the new ext")
  static let status = Field("status", .status, "the new status")

  static func send(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let caller = try request.known()
    try services.takeSend(caller)
    return try await send(SendRequest(Fields(of: request.body)), by: caller, services).reply
  }

  /// The same as sending, and only for what can be recognised: what has arrived is not sent again, what has
  /// not is sent now.
  static func resend(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let caller = try request.known()
    try services.takeSend(caller)
    let body = try SendRequest(Fields(of: request.body))
    try requireClientID(body.content)
    return try await send(body, by: caller, services).reply
  }

  static func requireClientID(_ content: NotificationContent) throws(Refusal) {
    guard content.messageClientId != nil else {
      throw .invalid("messageClientId", "is needed: without it a resend is another notification")
    }
  }

  static func send(
    _ body: SendRequest, by caller: Caller, _ services: LoopServices
  ) async throws(Refusal) -> SendReceipt {
    try body.check(caller)
    let sends = try SendNotification.sends(
      body.content, by: caller.actor, generatedClientId: services.clientIDs.next())
    if let toType = body.toType, let meant = sends.first?.content.toType, toType != meant {
      throw .invalid(
        "toType", "says \(toType.rawValue), but the fields given make it \(meant.rawValue); leave it out")
    }
    var first: SendReceipt?
    for send in sends {
      let receipt = try SendReceipt(try await services.runner.run(send))
      services.counts.count(receipt)
      if first == nil { first = receipt }
    }
    guard let first else { throw Refusal(.unavailable, "there was nothing to send") }
    return first
  }

  static func update(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let id = try request[Given.messageServerId]
    let actor = try request.actor
    let located = try await services.hub.find(id, for: actor.account)
    let operation = try UpdateNotification(
      located.entry, in: located.space, by: actor, body: try request[body], ext: try request[ext],
      status: try request[status])
    let notification = try await services.runner.run(operation).output
    return .json(rendered: Array(try RecordJSON.text(notification).utf8))
  }
}

extension SendRequest {
  /// Other devices of the sender's go by what device sent it, so a user cannot name another one.
  fileprivate func check(_ caller: Caller) throws(Refusal) {
    guard !caller.actor.isTrusted, let own = caller.actor.device, let named = content.fromDeviceId,
      named != own
    else { return }
    throw Refusal(.forbidden, "you cannot send from another device", field: "fromDeviceId")
  }
}
