import BelfryInterface
import BelfryModel

/// WebSockets, and who answers what is asked on them.
enum Sockets {
  static let handlers: [Handler] = [SocketRoutes.socket.socketed(by: open)]

  /// The handlers that answer the same over HTTP.
  static let handlersOfFrames: [SocketRequest: Handler] = Dictionary(
    uniqueKeysWithValues: SocketRequest.allCases.compactMap { request in
      Handlers.all.first { $0.route === request.route }.map { (request, $0) }
    })

  /// Whoever is known by the request itself is connected with it; everybody else says so in a frame.
  private static func open(
    _ request: Request, _ services: LoopServices, after: FeedCursor?, counts: Int, ticket: String?,
    connect: Int
  ) throws(Refusal) -> StreamOpening? {
    guard let caller = request.caller else { return nil }
    return try StreamOpening(by: caller, from: request.address, after: after, wantsCounts: counts > 0)
  }
}
