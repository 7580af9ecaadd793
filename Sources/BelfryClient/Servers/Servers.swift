import FoundationEssentials

extension BelfryClient {
  /// Creates a server that the account owns, with a default channel.
  public func createServer(_ settings: ServerSettings) async throws(BelfryError) -> Server {
    var request = HTTPRequest(.post, "/v1/servers")
    request.body = try Self.encode(settings)
    return try await value(Server.self, request)
  }

  /// The servers the account belongs to.
  public func servers(limit: Int? = nil, cursor: String? = nil) async throws(BelfryError) -> Page<Server> {
    var request = HTTPRequest(.get, "/v1/servers")
    request.ask("limit", limit.map(String.init))
    request.ask("cursor", cursor)
    let page = try await value(ServerList.self, request)
    return Page(items: page.servers, cursor: page.cursor)
  }

  public func server(_ id: EntityID) async throws(BelfryError) -> Server {
    try await value(Server.self, HTTPRequest(.get, "/v1/servers/\(id)"))
  }

  public func updateServer(
    _ id: EntityID, _ settings: ServerSettings
  ) async throws(BelfryError) -> Server {
    var request = HTTPRequest(.patch, "/v1/servers/\(id)", isRepeatable: true)
    request.body = try Self.encode(settings)
    return try await value(Server.self, request)
  }

  /// Removes a server for good. What was sent in it stays readable until retention.
  public func removeServer(_ id: EntityID) async throws(BelfryError) {
    try await answer(HTTPRequest(.delete, "/v1/servers/\(id)"))
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
    try await answer(HTTPRequest(.put, Self.subscription(server, channel)))
  }

  public func unsubscribe(from server: EntityID, channel: EntityID? = nil) async throws(BelfryError) {
    try await answer(HTTPRequest(.delete, Self.subscription(server, channel), isRepeatable: true))
  }

  private static func subscription(_ server: EntityID, _ channel: EntityID?) -> String {
    "/v1/servers/\(server)\(channel.map { "/channels/\($0)" } ?? "")/subscription"
  }
}
