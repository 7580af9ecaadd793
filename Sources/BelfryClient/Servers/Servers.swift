import BelfryInterface
import FoundationEssentials

extension BelfryClient {
  /// Creates a server that the account owns, with a default channel.
  public func createServer(_ settings: ServerSettings) async throws(BelfryError) -> Server {
    var request = HTTPRequest(ServerRoutes.create.route)
    request.body = try Self.encode(settings)
    return try await value(Server.self, request)
  }

  /// The servers the account belongs to.
  public func servers(limit: Int? = nil, cursor: String? = nil) async throws(BelfryError) -> Page<Server> {
    var request = HTTPRequest(ServerRoutes.list.route)
    request.ask("limit", limit.map(String.init))
    request.ask("cursor", cursor)
    let page = try await value(ServerList.self, request)
    return Page(items: page.servers, cursor: page.cursor)
  }

  public func server(_ id: EntityID) async throws(BelfryError) -> Server {
    try await value(Server.self, HTTPRequest(ServerRoutes.show.route, id.text))
  }

  public func updateServer(
    _ id: EntityID, _ settings: ServerSettings
  ) async throws(BelfryError) -> Server {
    var request = HTTPRequest(ServerRoutes.update.route, id.text, isRepeatable: true)
    request.body = try Self.encode(settings)
    return try await value(Server.self, request)
  }

  /// Removes a server for good. What was sent in it stays readable until retention.
  public func removeServer(_ id: EntityID) async throws(BelfryError) {
    try await answer(HTTPRequest(ServerRoutes.remove.route, id.text))
  }

  private struct ServerList: Decodable {
    var servers: [Server]
    var cursor: String?
  }
}

// MARK: - Subscriptions

extension BelfryClient {
  /// Subscribes the account to a server's own notifications, or to those of one channel. In servers above
  /// the threshold only subscribers receive what is sent to all; below it this is kept for later.
  public func subscribe(to server: EntityID, channel: EntityID? = nil) async throws(BelfryError) {
    let route = channel == nil ? ServerRoutes.subscribe.route : ChannelRoutes.subscribe.route
    try await answer(HTTPRequest(route, Self.place(server, channel)))
  }

  public func unsubscribe(from server: EntityID, channel: EntityID? = nil) async throws(BelfryError) {
    let route = channel == nil ? ServerRoutes.unsubscribe.route : ChannelRoutes.unsubscribe.route
    try await answer(HTTPRequest(route, Self.place(server, channel), isRepeatable: true))
  }

  private static func place(_ server: EntityID, _ channel: EntityID?) -> [String] {
    [server.text] + (channel.map { [$0.text] } ?? [])
  }
}
