import BelfryFeed
import BelfryHTTP
import BelfryInterface
import BelfryLive
import BelfryModel

/// The notifications of an account's feed.
enum Feeds {
  static let handlers: [Handler] = [
    NotificationRoutes.page.handled(by: page),
    NotificationRoutes.counts.handled(by: counts),
    NotificationRoutes.stream.streamed(by: stream),
    NotificationRoutes.read.handled(by: markRead),
  ]

  private static func page(
    _ request: Request, _ services: LoopServices, limit: Int, after cursor: FeedCursor?, waitSeconds: Int
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    let account = try caller.account()
    services.owe(Price.page(of: limit), .reads, of: request.caller)

    let page: FeedPage
    if waitSeconds > 0 {
      request.allowMoreTime(seconds: waitSeconds)
      let place = try services.openSlot(of: account, by: caller.credential)
      defer { place.close() }
      let wait = FeedWait(min(.seconds(waitSeconds), caller.rest()))
      request.onClientGone { wait.end() }
      place.user = wait
      let client = WaitingClient(of: account, from: request.address, in: services.streams)
      defer { client.close() }
      wait.onBegin = { client.beginWaiting() }
      page = try await services.hub.page(for: account, after: cursor, limit: limit, wait: wait)
      // A caller whose access ended in the meantime gets none of the new notifications.
      if place.isRevoked { throw services.refusal(of: caller.credential) }
      if caller.rest() <= .zero {
        throw Refusal(.unauthorized, "the token expired while this request was waiting")
      }
    } else {
      let isWanted = request.interest()
      page = try await services.readings.count(as: account) { () async throws(Refusal) in
        try await services.feed.page(for: account, after: cursor, limit: limit, while: isWanted)
      }
    }
    // An account that sees little of what is there pays for all that was read, too.
    services.owe(Price.page(of: max(page.entriesRead - limit, 0)), .reads, of: request.caller)
    var text = JSONText(capacity: 512 * (page.notifications.count + 1))
    text.field("notifications", page.notifications)
    text.field("cursor", page.cursor.text)
    text.appendGap(page.gap)
    return .json(text)
  }

  private static func counts(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let account = try request.known().account()
    let isWanted = request.interest()
    let count = try await services.readings.count(as: account) { () async throws(Refusal) in
      try await services.feed.count(for: account, while: isWanted)
    }
    services.owe(Price.page(of: count.entriesRead), .reads, of: request.caller)
    return .json(rendered: count.counts.json)
  }

  private static func stream(
    _ request: Request, _ services: LoopServices, after: FeedCursor?, counts: Int, ticket: String?,
    lastEventID: FeedCursor?
  ) throws(Refusal) -> StreamOpening {
    let caller = try request.known()
    // A browser that reconnects repeats the address together with `after`, and adds the header. The header is
    // newer.
    let cursor = lastEventID ?? after
    return try StreamOpening(by: caller, from: request.address, after: cursor, wantsCounts: counts > 0)
  }

  private static func markRead(
    _ request: Request, _ services: LoopServices, items: [MessageID]?, upTo: MessageID?
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    let account = try caller.account()
    let device = caller.actor.device
    let count = try await services.readings.count(as: account) { () async throws(Refusal) in
      if let id = upTo {
        try await services.feed.markRead(account: account, device: device, upTo: id)
      } else {
        try await services.feed.markRead(account: account, device: device, items: items ?? [])
      }
    }
    return .json(["read": .integer(Int64(count))])
  }
}

extension JSONText {
  /// Adds the field that tells a reader which ids its cursor may have missed; nothing if there is no gap.
  mutating func appendGap(_ gap: FeedGap?) {
    guard let gap else { return }
    field("gap", ["from": .string(gap.from.text), "to": .string(gap.to.text)])
  }
}
