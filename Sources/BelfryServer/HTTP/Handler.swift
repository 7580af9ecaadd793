import BelfryHTTP
import BelfryInterface
import BelfryModel

/// What answers one row of the interface: the row, and what is done with the values that its requests give.
struct Handler: Sendable {
  /// What is to be done for one request, whose values it holds.
  enum Work {
    case reply((Request, LoopServices) async throws(Refusal) -> HTTPResponse)
    case stream((Request, LoopServices) throws(Refusal) -> StreamOpening)
    /// Nil of the opening: the caller says later who that is.
    case socket((Request, LoopServices) throws(Refusal) -> StreamOpening?)
  }

  let route: Route
  /// The operation that it carries out, where it is one and no more: the one that the row names.
  let operation: (any SpaceOperation.Type)?
  /// Reads what a request gives, as the row declares it.
  let prepare: @Sendable (inout RequestParts) throws(Refusal) -> Work
}

extension Endpoint {
  /// Answered with a reply.
  /// - Parameter operation: what the answer carries out, where the row names it.
  func handled(
    carryingOut operation: (any SpaceOperation.Type)? = nil,
    by answer:
      @escaping @Sendable (Request, LoopServices, repeat each Value) async throws(Refusal)
      -> HTTPResponse
  ) -> Handler {
    Handler(route: route, operation: operation) { parts throws(Refusal) in
      let values = try read(&parts)
      return .reply { request, services throws(Refusal) in
        try await answer(request, services, repeat each values)
      }
    }
  }

  /// Answered with a stream that goes on.
  func streamed(
    by open: @escaping @Sendable (Request, LoopServices, repeat each Value) throws(Refusal) -> StreamOpening
  ) -> Handler {
    Handler(route: route, operation: nil) { parts throws(Refusal) in
      let values = try read(&parts)
      return .stream { request, services throws(Refusal) in
        try open(request, services, repeat each values)
      }
    }
  }

  /// Answered with a WebSocket.
  func socketed(
    by open: @escaping @Sendable (Request, LoopServices, repeat each Value) throws(Refusal) -> StreamOpening?
  ) -> Handler {
    Handler(route: route, operation: nil) { parts throws(Refusal) in
      let values = try read(&parts)
      return .socket { request, services throws(Refusal) in
        try open(request, services, repeat each values)
      }
    }
  }

  /// Answered by an operation that leaves nothing to say.
  func carriedOut<Asked: SpaceOperation>(
    by operation: @escaping @Sendable (Actor, repeat each Value) throws(Refusal) -> Asked
  ) -> Handler {
    carriedOut(by: operation) { _, _ in .noContent }
  }

  /// - Parameter render: what is answered, of the operation and what it gave back.
  func carriedOut<Asked: SpaceOperation>(
    by operation: @escaping @Sendable (Actor, repeat each Value) throws(Refusal) -> Asked,
    _ render: @escaping @Sendable (Asked, Asked.Output) -> HTTPResponse
  ) -> Handler {
    Handler(route: route, operation: Asked.self) { parts throws(Refusal) in
      let values = try read(&parts)
      return .reply { request, services throws(Refusal) in
        let operation = try operation(request.actor, repeat each values)
        return render(operation, try await services.run(operation, of: request).output)
      }
    }
  }
}

/// The handlers of all rows.
enum Handlers {
  static let all: [Handler] =
    Health.handlers + Operators.handlers + Keys.handlers + Audit.handlers + Servers.handlers
    + Accounts.handlers + Subscriptions.handlers + ServerJoining.handlers + Members.handlers
    + Channels.handlers + ChannelMembers.handlers + Groups.handlers + GroupContents.handlers + Rooms.handlers
    + Feeds.handlers + Sending.handlers + Webhooks.handlers + Pushers.handlers
    + AccountStreams.handlers + Sessions.handlers + Tickets.handlers + Sockets.handlers
}
