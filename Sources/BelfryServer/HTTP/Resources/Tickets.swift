import BelfryBytes
import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

/// Tickets: made for a caller with a token, and used once, on any broker.
enum Tickets {
  static let handlers: [Handler] = [NotificationRoutes.makeTicket.handled(by: make)]

  private static func make(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    // The ticket opens a stream of an account. A refusal now is better than a stream that fails later.
    _ = try caller.account()
    let ticket = StreamTicket.make()
    try await reading { () async throws(StoreError) in
      try await services.administration.putTicket(
        ticket.name, caller.record, seconds: NotificationRoutes.ticketSeconds)
    }
    let seconds = Int64(NotificationRoutes.ticketSeconds)
    return .json(["ticket": .string(ticket.text), "expiresInSeconds": .integer(seconds)], status: 201)
  }
}

extension LoopServices {
  /// Uses up a ticket. After this, it is not valid for anybody else.
  /// - Returns: the caller who asked for the ticket, if the caller's token is still accepted.
  func redeem(_ text: UTF8Text) async throws(Refusal) -> Caller {
    guard let ticket = StreamTicket(text) else { throw .unknownTicket }
    let record = try await reading { () async throws(StoreError) in
      try await administration.takeTicket(ticket.name)
    }
    guard let caller = record.flatMap({ Caller(record: $0) }) else { throw .unknownTicket }
    guard caller.rest() > .zero else { throw Refusal(.unauthorized, "the token of this ticket has expired") }
    guard isAccepted(caller.credential) else { throw refusal(of: caller.credential) }
    return try await cleared(caller)
  }
}

extension Refusal {
  static let unknownTicket = Refusal(
    .invalidTicket, "this ticket does not exist, has expired or was used; create a new one",
    field: NotificationRoutes.ticket.name)
}
