import BelfryInterface
import FoundationEssentials

extension BelfryClient {
  /// Creates a channel of a server.
  ///
  /// This call is not repeated by itself: after ``BelfryError/Code/transport`` and ``BelfryError/Code/unknownOutcome``, list
  /// the channels before you create it again.
  ///
  /// - Throws: ``BelfryError/Code/notFound`` if there is no such server; ``BelfryError/Code/forbidden`` or
  ///   ``BelfryError/Code/notMember`` if the account may not create channels there; ``BelfryError/Code/tooMany`` if the
  ///   server has as many channels as it may have: remove one.
  public func createChannel(_ channel: NewChannel, in server: EntityID) async throws(BelfryError) -> Channel {
    var request = HTTPRequest(ChannelRoutes.create.route, server.text)
    request.body = try Self.encode(channel)
    return try await value(Channel.self, request)
  }

  /// Lists the channels of a server that the account may know of.
  ///
  /// - Parameters:
  ///   - server: the server.
  ///   - limit: the most channels to return, 1 to 1,000. Nil means 100.
  ///   - cursor: the cursor of the page before. Nil means the first page.
  /// - Throws: ``BelfryError/Code/notFound`` if there is no such server; ``BelfryError/Code/notMember`` if the account is not
  ///   in it.
  public func channels(
    of server: EntityID, limit: Int? = nil, cursor: String? = nil
  ) async throws(BelfryError) -> Page<Channel> {
    var request = HTTPRequest(ChannelRoutes.list.route, server.text)
    request.ask("limit", limit.map(String.init))
    request.ask("cursor", cursor)
    let page = try await value(ChannelList.self, request)
    return Page(items: page.channels, cursor: page.cursor)
  }

  /// Fetches a channel of a server.
  ///
  /// - Throws: ``BelfryError/Code/notFound`` if there is no such channel, or if the account may not know of it;
  ///   ``BelfryError/Code/notMember`` if the account is not in the server.
  public func channel(_ id: EntityID, of server: EntityID) async throws(BelfryError) -> Channel {
    try await value(Channel.self, HTTPRequest(ChannelRoutes.show.route, server.text, id.text))
  }

  /// Changes the name or the description of a channel. A field that is nil stays as it is. An empty description removes the
  /// description.
  ///
  /// - Returns: the channel as it is now.
  /// - Throws: ``BelfryError/Code/notFound`` if there is no such channel; ``BelfryError/Code/forbidden`` if the account may
  ///   not change it; ``BelfryError/Code/conflict`` if others kept changing the server: try again.
  public func updateChannel(
    _ id: EntityID, of server: EntityID, name: String? = nil, description: String? = nil
  ) async throws(BelfryError) -> Channel {
    var request = HTTPRequest(ChannelRoutes.update.route, server.text, id.text, isRepeatable: true)
    request.body = try Self.encode(ChannelChange(name: name, description: description))
    return try await value(Channel.self, request)
  }

  /// Removes a channel and its roster for good.
  ///
  /// - Throws: ``BelfryError/Code/notFound`` if there is no such channel, or no longer; ``BelfryError/Code/forbidden`` if the
  ///   account may not remove it.
  public func removeChannel(_ id: EntityID, of server: EntityID) async throws(BelfryError) {
    try await answer(HTTPRequest(ChannelRoutes.remove.route, server.text, id.text))
  }

  private struct ChannelList: Decodable {
    var channels: [Channel]
    var cursor: String?
  }

  private struct ChannelChange: Encodable {
    var name: String?
    var description: String?
  }
}
