/// Everything that can be asked for over HTTP.
enum Routes {
  static let all: [Route] = health + servers + channels + subscriptions + notifications

  private static let paging: Set = ["limit", "cursor"]

  private static let health: [Route] = [
    Route(.get, "/healthz", .everyone, .reply(Health.isAlive)),
    Route(.get, "/readyz", .everyone, .reply(Health.isReady)),
    Route(.get, "/metrics", .loopbackOrToken, .reply(Operators.metrics)),
    Route(.get, "/v1/stats", .trusted, .reply(Operators.statistics)),
  ]

  private static let servers: [Route] = [
    Route(.post, "/v1/servers", .token, body: .json, .reply(Servers.create)),
    Route(.get, "/v1/servers", .token, query: paging, .reply(Servers.list)),
    Route(.get, "/v1/servers/{serverId}", .token, .reply(Servers.show)),
    Route(.patch, "/v1/servers/{serverId}", .token, body: .json, .reply(Servers.update)),
    Route(.delete, "/v1/servers/{serverId}", .token, .reply(Servers.remove)),
    Route(.get, "/v1/servers/{serverId}/members", .token, query: paging, .reply(Members.list)),
    Route(.post, "/v1/servers/{serverId}/members", .trusted, body: .json, .reply(Members.add)),
    Route(.get, "/v1/servers/{serverId}/members/{accid}", .token, .reply(Members.show)),
    Route(.delete, "/v1/servers/{serverId}/members/{accid}", .token, .reply(Members.remove)),
  ]

  private static let channels: [Route] = [
    Route(.post, "/v1/servers/{serverId}/channels", .token, body: .json, .reply(Channels.create)),
    Route(.get, "/v1/servers/{serverId}/channels", .token, query: paging, .reply(Channels.list)),
    Route(.get, "/v1/servers/{serverId}/channels/{channelId}", .token, .reply(Channels.show)),
    Route(
      .patch, "/v1/servers/{serverId}/channels/{channelId}", .token, body: .json, .reply(Channels.update)),
    Route(.delete, "/v1/servers/{serverId}/channels/{channelId}", .token, .reply(Channels.remove)),
  ]

  private static let subscriptions: [Route] = [
    Route(.put, "/v1/servers/{serverId}/subscription", .token, .reply(Subscriptions.begin)),
    Route(.delete, "/v1/servers/{serverId}/subscription", .token, .reply(Subscriptions.end)),
    Route(
      .put, "/v1/servers/{serverId}/channels/{channelId}/subscription", .token, .reply(Subscriptions.begin)),
    Route(
      .delete, "/v1/servers/{serverId}/channels/{channelId}/subscription", .token, .reply(Subscriptions.end)),
  ]

  private static let notifications: [Route] = [
    Route(.post, "/v1/notifications", .token, body: .json, .reply(Sending.send)),
    Route(.post, "/v1/notifications/resend", .token, body: .json, .reply(Sending.resend)),
    Route(.post, "/v1/notifications/batch", .token, body: .lines, .reply(Sending.batch)),
    Route(.post, "/v1/notifications/read", .token, body: .json, .reply(Feeds.markRead)),
    Route(.get, "/v1/notifications", .token, query: ["limit", "after", "wait"], .reply(Feeds.page)),
    Route(.get, "/v1/notifications/stream", .token, query: ["after"], .stream(Feeds.stream)),
    Route(.patch, "/v1/notifications/{messageServerId}", .token, body: .json, .reply(Sending.update)),
    Route(
      .get, "/v1/notifications/{messageServerId}/explain", .trusted, query: ["account"],
      .reply(Operators.explain)),
  ]
}
