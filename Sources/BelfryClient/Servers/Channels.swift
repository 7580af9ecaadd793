import BelfryInterface
import FoundationEssentials

extension BelfryClient {
  public func createChannel(_ channel: NewChannel, in server: EntityID) async throws(BelfryError) -> Channel {
    var request = HTTPRequest(ChannelRoutes.create.route, server.text)
    request.body = try Self.encode(channel)
    return try await value(Channel.self, request)
  }

  /// The server's channels that the account can see.
  public func channels(
    of server: EntityID, limit: Int? = nil, cursor: String? = nil
  ) async throws(BelfryError) -> Page<Channel> {
    var request = HTTPRequest(ChannelRoutes.list.route, server.text)
    request.ask("limit", limit.map(String.init))
    request.ask("cursor", cursor)
    let page = try await value(ChannelList.self, request)
    return Page(items: page.channels, cursor: page.cursor)
  }

  public func channel(_ id: EntityID, of server: EntityID) async throws(BelfryError) -> Channel {
    try await value(Channel.self, HTTPRequest(ChannelRoutes.show.route, server.text, id.text))
  }

  /// Renames or describes a channel. Nil leaves a field as it is; an empty description is none.
  public func updateChannel(
    _ id: EntityID, of server: EntityID, name: String? = nil, description: String? = nil
  ) async throws(BelfryError) -> Channel {
    var request = HTTPRequest(ChannelRoutes.update.route, server.text, id.text, isRepeatable: true)
    request.body = try Self.encode(ChannelChange(name: name, description: description))
    return try await value(Channel.self, request)
  }

  /// Removes a channel and its roster for good.
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
