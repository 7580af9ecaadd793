import BelfryClient
import BelfryInterface
import BelfryModel

extension Command {
  static let subscribe = Command(
    name: "subscribe", summary: "subscribe to servers and channels",
    detail: """
      Subscribes to a server's own notifications, or to those of a channel. In a large server, only subscribers \
      receive what is sent to everybody. In a small server, all members receive it, and the subscription takes effect \
      when the server becomes large. Each place succeeds or fails by itself.
      """,
    operands: [.places],
    options: CommandOption.connection,
    changesSomething: true,
    examples: [
      Example("subscribe 12", "to server 12's own notifications"),
      Example(
        "subscribe 12 12/34 56/78 --as bob", "subscribe bob to a server and to channels of two servers"
      ),
    ],
    run: { invocation in try await invocation.changeSubscriptions(to: true) })

  static let unsubscribe = Command(
    name: "unsubscribe", summary: "unsubscribe from servers and channels",
    detail:
      "Each place succeeds or fails by itself. Ending a subscription that does not exist is not an error.",
    operands: [.places],
    options: CommandOption.connection,
    changesSomething: true,
    examples: [
      Example("unsubscribe 12/34", "from channel 34 of server 12"),
      Example(
        "unsubscribe 12 12/34 --as bob", "unsubscribe bob from a server and from one of its channels"),
    ],
    run: { invocation in try await invocation.changeSubscriptions(to: false) })
}

extension Operand {
  fileprivate static let places = Operand(
    name: "PLACE", meaning: "a server by its id, or a channel of it as SERVER/CHANNEL", repeats: true)
}

extension Invocation {
  /// Asks for all places, as many in one request as the broker takes, and prints each of them.
  fileprivate func changeSubscriptions(to isSubscribed: Bool) async throws {
    let places = try arguments.operands.map { word throws(UsageError) in try SubscriptionPlace(word) }
    let client = try client()
    var failures: [SubscriptionFailure] = []
    for start in stride(from: 0, to: places.count, by: Limits.subscriptionsPerCall) {
      let some = places[start..<min(start + Limits.subscriptionsPerCall, places.count)]
      let answer = try await client.perform(
        AccountRoutes.changeSubscriptions.route, body: SubscriptionPlace.body(some, isSubscribed))
      failures += SubscriptionFailure.all(in: answer)
    }
    try show(places, failures, isSubscribed ? "subscribed" : "unsubscribed")
  }

  private func show(
    _ places: [SubscriptionPlace], _ failures: [SubscriptionFailure], _ word: String
  ) throws {
    let failed = Set(failures.map(\.place))
    let done = places.filter { !failed.contains($0) }
    if printsJSON || !done.isEmpty {
      try print(
        ["failed": .array(failures.map(\.answer))] as JSONValue,
        TextTable.aligned(done.map { [$0.text, word] }))
    }
    for failure in failures.dropLast() {
      console.complain("belfry: \(failure.code): \(failure.sentence)")
    }
    if let last = failures.last {
      // A channel's id alone is taken for a server's.
      let mayBeChannel = failures.contains { $0.code == "notFound" && $0.place.channel == nil }
      throw CommandFailure(
        code: last.code, detail: last.sentence,
        advice: mayBeChannel ? "a channel is given with its server: SERVER/CHANNEL" : nil)
    }
  }
}

/// A server, or a channel of one, as it is typed: `12`, `12/34`.
private struct SubscriptionPlace: Hashable {
  let server: EntityID
  let channel: EntityID?

  init(server: EntityID, channel: EntityID?) {
    self.server = server
    self.channel = channel
  }

  init(_ word: String) throws(UsageError) {
    // Preferences and webhooks name a server as `server:12`.
    let prefix = "server:"
    let ids = word.hasPrefix(prefix) ? word.dropFirst(prefix.count) : word[...]
    let parts = ids.split(separator: "/", omittingEmptySubsequences: false).map { EntityID(String($0)) }
    let named = parts.compactMap { $0 }
    guard named.count == parts.count, (1...2).contains(named.count) else {
      throw UsageError("PLACE must be SERVER or SERVER/CHANNEL, with their ids, not \(word)")
    }
    self.init(server: named[0], channel: named.count == 2 ? named[1] : nil)
  }

  var text: String { ([server] + (channel.map { [$0] } ?? [])).map(\.text).joined(separator: "/") }

  static func body(_ places: some Collection<SubscriptionPlace>, _ isSubscribed: Bool) -> JSONValue {
    let servers = places.filter { $0.channel == nil }.map { JSONValue.string($0.server.text) }
    let channels = places.compactMap { place in
      place.channel.map { channel -> JSONValue in
        ["serverId": .string(place.server.text), "channelId": .string(channel.text)]
      }
    }
    var body: JSONObject = ["subscribe": .bool(isSubscribed)]
    if !servers.isEmpty { body["servers"] = .array(servers) }
    if !channels.isEmpty { body["channels"] = .array(channels) }
    return .object(body)
  }
}

/// A place that the broker refused, and why.
private struct SubscriptionFailure {
  let place: SubscriptionPlace
  let code: String
  let detail: String
  let answer: JSONValue

  var sentence: String { "\(place.text): \(detail)" }

  static func all(in answer: JSONValue?) -> [SubscriptionFailure] {
    guard case .object(let members)? = answer, case .array(let failed)? = members["failed"] else { return [] }
    return failed.compactMap { SubscriptionFailure($0) }
  }

  private init?(_ answer: JSONValue) {
    guard case .object(let members) = answer, case .string(let server)? = members["serverId"],
      let server = EntityID(server), case .string(let code)? = members["code"],
      case .string(let detail)? = members["detail"]
    else { return nil }
    var channel: EntityID?
    if case .string(let text)? = members["channelId"] { channel = EntityID(text) }
    place = SubscriptionPlace(server: server, channel: channel)
    (self.code, self.detail, self.answer) = (code, detail, answer)
  }
}
