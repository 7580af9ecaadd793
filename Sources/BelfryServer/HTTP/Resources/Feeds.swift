import BelfryFeed
import BelfryLive
import BelfryModel

/// What an account sees.
enum Feeds {
  /// Longer than this nobody holds a request: proxies in between give up at about a minute.
  static let waitMaxSeconds = 60

  static let limit = Field("limit", .integer(1...Limits.pageNotificationsMaximum), "how many at most")
    .otherwise(Limits.pageNotifications, .integer(Int64(Limits.pageNotifications)))
  static let after = Field("after", Kind<FeedCursor>.cursor, "the cursor behind which to go on")
  static let wait = Field(
    "wait", .integer(0...waitMaxSeconds), "how many seconds to wait if there is nothing yet"
  ).otherwise(0, 0)

  static let lastEventID = Property(
    "Last-Event-ID", .cursor, "the cursor behind which to go on; goes before `after`")

  static let items = Field("items", .list(readItem, counts: 1...Limits.itemsPerMarkRead), "what is read")
  static let upTo = Field("upTo", .message, "everything up to this one, by id, is read")
  private static let readID = Field("messageServerId", .message, "the notification").needed
  /// The id alone tells which notification it is; `type` is what other systems ask for beside it.
  private static let readItem = Kind<MessageID>.object([
    readID, Field("type", .integer(Int.min...Int.max), "its type; not looked at"),
  ]) { values throws(Refusal) in try values[readID] }

  static let pageShape = Shape.object([
    .always("notifications", .list(Notification.shape), "the unread, oldest first"),
    .always("cursor", .cursor, "what to give as `after` next time"),
    .sometimes(
      "gap", .object([.always("from", .message, "from"), .always("to", .message, "to")]),
      "what lay between these has been dropped by retention"),
  ])
  static let readShape = Shape.object([.always("read", .count, "how many were unread until now")])

  static func page(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let caller = try request.known()
    let account = try caller.account()
    let limit = try request[limit]
    let cursor = try request[after]
    let waitSeconds = try request[wait]
    services.owe(Price.page(of: limit), .reads, of: request.caller)

    let page: FeedPage
    if waitSeconds > 0 {
      let place = try services.openSlot(of: account, by: caller.credential)
      defer { place.close() }
      let wait = FeedWait(min(.seconds(waitSeconds), caller.rest()))
      request.onClientGone { wait.end() }
      place.onRevoked = { wait.end() }
      page = try await services.hub.page(for: account, after: cursor, limit: limit, wait: wait)
      // What came meanwhile is not for who may no longer ask.
      if place.isRevoked { throw Refusal(.unauthorized, "the token is not accepted any more") }
      if caller.rest() <= .zero { throw Refusal(.unauthorized, "the token has expired while this waited") }
    } else {
      page = try await services.feed.page(for: account, after: cursor, limit: limit)
    }
    var text = JSONText(capacity: 512 * (page.notifications.count + 1))
    text.field("notifications", page.notifications)
    text.field("cursor", page.cursor.text)
    if let gap = page.gap {
      text.field("gap", ["from": .string(gap.from.text), "to": .string(gap.to.text)])
    }
    return .json(text)
  }

  static func stream(_ request: Request, _ services: LoopServices) throws(Refusal) -> StreamOpening {
    let caller = try request.known()
    var cursor = try request[after]
    // A browser that reconnects repeats the address, `after` included, and adds the header: it is newer.
    if let text = request.lastEventID, !text.isEmpty {
      guard let last = FeedCursor(text: text) else {
        throw .invalid("Last-Event-ID", "is no cursor of this server's")
      }
      cursor = last
    }
    return StreamOpening(
      account: try caller.account(), credential: caller.credential, device: caller.actor.device,
      cursor: cursor,
      expiresAtMilliseconds: caller.expiresAtSeconds * 1_000)
  }

  static func markRead(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let caller = try request.known()
    let account = try caller.account()
    let device = caller.actor.device
    let count =
      if let id = try request[upTo] {
        try await services.feed.markRead(account: account, device: device, upTo: id)
      } else {
        try await services.feed.markRead(account: account, device: device, items: try request[items] ?? [])
      }
    return .json(["read": .integer(Int64(count))])
  }
}
