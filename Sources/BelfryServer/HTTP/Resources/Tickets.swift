import BelfryBytes
import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

/// Tickets: made for whoever has a token, and taken once, on any broker.
enum Tickets {
  static let handlers: [Handler] = [NotificationRoutes.makeTicket.handled(by: make)]

  private static func make(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    // What it would open is for an account, and to be told so now is better than by a stream that fails.
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
  /// Takes a ticket, which is good for nobody else from then on.
  /// - Returns: who asked for it, if what they had asked with still holds.
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
    .invalidTicket, "this ticket does not exist, has expired or was used",
    field: NotificationRoutes.ticket.name)
}
