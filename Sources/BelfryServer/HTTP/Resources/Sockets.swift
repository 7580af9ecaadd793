import BelfryInterface
import BelfryModel

/// WebSockets, and the handlers that answer their frames.
enum Sockets {
  static let handlers: [Handler] = [SocketRoutes.socket.socketed(by: open)]

  /// The handlers of frames; the same handlers answer over HTTP.
  static let handlersOfFrames: [SocketRequest: Handler] = Dictionary(
    uniqueKeysWithValues: SocketRequest.allCases.compactMap { request in
      Handlers.all.first { $0.route === request.route }.map { (request, $0) }
    })

  /// A caller that the request itself names is connected with it. Other callers name themselves in a frame.
  private static func open(
    _ request: Request, _ services: LoopServices, after: FeedCursor?, counts: Int, ticket: String?,
    connect: Int
  ) throws(Refusal) -> StreamOpening? {
    guard let caller = request.caller else { return nil }
    return try StreamOpening(by: caller, from: request.address, after: after, wantsCounts: counts > 0)
  }
}
