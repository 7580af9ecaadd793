import BelfryHub
import BelfryModel

/// What an account sees.
enum Feeds {
  /// Longer than this nobody holds a request: proxies in between give up at about a minute.
  static let waitMaxSeconds = 60

  static func page(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let account = try request.known().account()
    let query = request.query
    let limit = try query.integer(
      "limit", in: 1...Limits.pageNotificationsMaximum, otherwise: Limits.pageNotifications)
    let cursor = try query.feedCursor("after")
    let waitSeconds = try query.integer("wait", in: 0...waitMaxSeconds, otherwise: 0)

    let page: FeedPage
    if waitSeconds > 0 {
      let place = try services.openPlace(of: account)
      defer { place.close() }
      let wait = FeedWait(seconds: waitSeconds)
      request.onClientGone { wait.end() }
      page = try await services.hub.page(for: account, after: cursor, limit: limit, wait: wait)
    } else {
      page = try await services.hub.page(for: account, after: cursor, limit: limit)
    }
    var text = JSONText(capacity: 512 * (page.notifications.count + 1))
    text.field("notifications", raw: page.notifications)
    text.field("cursor", page.cursor.text)
    if let gap = page.gap {
      text.field("gap", ["from": .string(gap.from.text), "to": .string(gap.to.text)])
    }
    return .json(text)
  }

  static func stream(_ request: Request, _ services: LoopServices) throws(Refusal) -> StreamOpening {
    let caller = try request.known()
    let query = request.query
    var cursor = try query.feedCursor("after")
    // A browser that reconnects repeats the address, `after` included, and adds the header: it is newer.
    if let text = request.lastEventID, !text.isEmpty {
      guard let last = FeedCursor(text: text) else {
        throw .invalid("Last-Event-ID", "is no cursor of this server's")
      }
      cursor = last
    }
    return StreamOpening(
      account: try caller.account(), device: caller.actor.device, cursor: cursor,
      expiresAtMilliseconds: caller.expiresAtSeconds * 1_000)
  }

  static func markRead(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let caller = try request.known()
    let account = try caller.account()
    let device = caller.actor.device
    let count =
      switch try ReadRequest(request.fields()) {
      case .items(let items):
        try await services.hub.markRead(account: account, device: device, items: items)
      case .upTo(let id):
        try await services.hub.markRead(account: account, device: device, upTo: id)
      }
    var text = JSONText()
    text.field("read", count)
    return .json(text)
  }
}
