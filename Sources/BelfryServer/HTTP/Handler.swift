import BelfryHTTP
import BelfryInterface
import BelfryModel

/// Answers one row of the interface: it holds the row, and the work to do with the values of a request.
struct Handler: Sendable {
  /// The work for one request, with the request's values.
  enum Work {
    case reply((Request, LoopServices) async throws(Refusal) -> HTTPResponse)
    case stream((Request, LoopServices) throws(Refusal) -> StreamOpening)
    /// The opening is nil if the caller is named later, in a frame.
    case socket((Request, LoopServices) throws(Refusal) -> StreamOpening?)
  }

  let route: Route
  /// The operation that the row names, if the handler only carries out an operation.
  let operation: (any SpaceOperation.Type)?
  /// Reads the values of a request, as the row declares them.
  let prepare: @Sendable (inout RequestParts) throws(Refusal) -> Work
}

extension Endpoint {
  /// A handler that answers with a reply.
  /// - Parameter operation: the operation that the answer carries out, if the row names one.
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

  /// A handler that answers with a stream.
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

  /// A handler that answers with a WebSocket.
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

  /// A handler that carries out an operation and answers with no content.
  func carriedOut<Asked: SpaceOperation>(
    by operation: @escaping @Sendable (Actor, repeat each Value) throws(Refusal) -> Asked
  ) -> Handler {
    carriedOut(by: operation) { _, _ in .noContent }
  }

  /// - Parameter render: makes the answer from the operation and its output.
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
    Health.handlers + Operators.handlers + Keys.handlers + Audit.handlers + ServerLog.handlers
    + Servers.handlers + Accounts.handlers + Subscriptions.handlers + ServerJoining.handlers
    + Members.handlers + Channels.handlers + ChannelMembers.handlers + Groups.handlers
    + GroupContents.handlers + Rooms.handlers
    + Feeds.handlers + Sending.handlers + Webhooks.handlers + Pushers.handlers
    + AccountStreams.handlers + Sessions.handlers + Tickets.handlers + Sockets.handlers
}
