import BelfryModel

extension Command {
  static let subscribe = Command(
    name: "subscribe", summary: "subscribe to a server or a channel",
    detail: """
      In a server above the threshold (2,000 members by default) only subscribers receive what is sent to all. \
      Below it a subscription is kept for later.
      """,
    options: subscriptionOptions,
    examples: [
      Example("subscribe --server 12", "to the server's own notifications"),
      Example("subscribe --server 12 --channel 34 --as bob", "bob, to those of a channel"),
    ],
    run: { invocation in try await setSubscription(true, invocation) })

  static let unsubscribe = Command(
    name: "unsubscribe", summary: "end a subscription",
    options: subscriptionOptions,
    examples: [Example("unsubscribe --server 12 --channel 34", "from a channel's notifications")],
    run: { invocation in try await setSubscription(false, invocation) })

  private static let subscriptionOptions: [CommandOption] =
    [
      CommandOption.value("server", "ID", "the server").required,
      .value("channel", "ID", "one channel of it instead of its own notifications"),
    ] + CommandOption.connection

  private static func setSubscription(_ isSubscribed: Bool, _ invocation: Invocation) async throws {
    let server = try invocation.arguments.neededEntity("server")
    let channel = try invocation.arguments.entity("channel")
    let client = try invocation.client()
    if isSubscribed {
      try await client.subscribe(to: server, channel: channel)
    } else {
      try await client.unsubscribe(from: server, channel: channel)
    }
    let place = channel.map { "channel \($0) of server \(server)" } ?? "server \(server)"
    try invocation.print(
      Subscription(serverId: server, channelId: channel, subscribed: isSubscribed),
      [isSubscribed ? "subscribed to \(place)" : "no longer subscribed to \(place)"])
  }

  private struct Subscription: Encodable {
    var serverId: EntityID
    var channelId: EntityID?
    var subscribed: Bool
  }
}
