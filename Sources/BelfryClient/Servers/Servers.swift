import BelfryInterface
import FoundationEssentials

extension BelfryClient {
  /// Creates a server that the account owns, with a default channel.
  ///
  /// This call is not repeated by itself: after ``BelfryError/Code/transport`` and ``BelfryError/Code/unknownOutcome``, list
  /// the servers before you create it again.
  ///
  /// - Throws: ``BelfryError/Code/invalidField`` if the name is missing or too long; ``BelfryError/Code/tooMany`` if the
  ///   account is in as many servers as it may be: leave one.
  public func createServer(_ settings: ServerSettings) async throws(BelfryError) -> Server {
    var request = HTTPRequest(ServerRoutes.create.route)
    request.body = try Self.encode(settings)
    return try await value(Server.self, request)
  }

  /// Lists the servers that the account is a member of.
  ///
  /// - Parameters:
  ///   - limit: the most servers to return, 1 to 1,000. Nil means 100.
  ///   - cursor: the cursor of the page before. Nil means the first page.
  public func servers(limit: Int? = nil, cursor: String? = nil) async throws(BelfryError) -> Page<Server> {
    var request = HTTPRequest(ServerRoutes.list.route)
    request.ask("limit", limit.map(String.init))
    request.ask("cursor", cursor)
    let page = try await value(ServerList.self, request)
    return Page(items: page.servers, cursor: page.cursor)
  }

  /// Fetches a server.
  ///
  /// - Throws: ``BelfryError/Code/notFound`` if there is no such server; ``BelfryError/Code/notMember`` if the account is not
  ///   in it.
  public func server(_ id: EntityID) async throws(BelfryError) -> Server {
    try await value(Server.self, HTTPRequest(ServerRoutes.show.route, id.text))
  }

  /// Changes settings of a server. Settings that are nil stay as they are.
  ///
  /// - Returns: the server as it is now.
  /// - Throws: ``BelfryError/Code/notFound`` if there is no such server; ``BelfryError/Code/forbidden`` or
  ///   ``BelfryError/Code/notMember`` if the account may not change it; ``BelfryError/Code/conflict`` if others kept changing
  ///   it: try again.
  public func updateServer(
    _ id: EntityID, _ settings: ServerSettings
  ) async throws(BelfryError) -> Server {
    var request = HTTPRequest(ServerRoutes.update.route, id.text, isRepeatable: true)
    request.body = try Self.encode(settings)
    return try await value(Server.self, request)
  }

  /// Removes a server for good. Notifications that were sent in it stay readable until retention ends.
  ///
  /// - Throws: ``BelfryError/Code/notFound`` if there is no such server, or no longer; ``BelfryError/Code/forbidden`` if the
  ///   account may not remove it.
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
  /// Subscribes the account to a server's own notifications, or to those of one channel.
  ///
  /// In a server with more members than the threshold (2,000 unless configured otherwise), only subscribers receive
  /// notifications to everybody. In a smaller server everybody receives them, and the subscription is kept for later.
  ///
  /// - Throws: ``BelfryError/Code/notFound`` if there is no such server or channel; ``BelfryError/Code/notMember`` if the
  ///   account is not in it; ``BelfryError/Code/tooMany`` if it subscribed and unsubscribed too often: wait.
  public func subscribe(to server: EntityID, channel: EntityID? = nil) async throws(BelfryError) {
    let route = channel == nil ? ServerRoutes.subscribe.route : ChannelRoutes.subscribe.route
    try await answer(HTTPRequest(route, Self.place(server, channel)))
  }

  /// Ends the subscription of the account to a server's own notifications, or to those of one channel. It succeeds also if
  /// there is none.
  ///
  /// - Throws: ``BelfryError/Code/notFound`` if there is no such server or channel; ``BelfryError/Code/notMember`` if the
  ///   account is not in it.
  public func unsubscribe(from server: EntityID, channel: EntityID? = nil) async throws(BelfryError) {
    let route = channel == nil ? ServerRoutes.unsubscribe.route : ChannelRoutes.unsubscribe.route
    try await answer(HTTPRequest(route, Self.place(server, channel), isRepeatable: true))
  }

  private static func place(_ server: EntityID, _ channel: EntityID?) -> [String] {
    [server.text] + (channel.map { [$0.text] } ?? [])
  }
}
