import BelfryFeed
import BelfryModel

extension Routes {
  static let notifications: [Route] = [
    Route(
      .post, "/v1/notifications", .token, "notification send", "Send a notification", isCommand: false,
      scope: .send, isAudited: false,
      body: .readByRoute(SendRequest.shape), price: .send, refusals: sending,
      .reply(.created(SendReceipt.shape, isLocated: false), .ok(SendReceipt.shape), by: Sending.send)),
    Route(
      .post, "/v1/notifications/resend", .token, "notification resend",
      "Send what may have been sent already, unless it was", isCommand: false, scope: .send, isAudited: false,
      body: .readByRoute(SendRequest.resendShape), price: .send, refusals: sending,
      .reply(.created(SendReceipt.shape, isLocated: false), .ok(SendReceipt.shape), by: Sending.resend)),
    Route(
      .post, "/v1/notifications/batch", .token, "notification batch", "Send many notifications, one a line",
      isCommand: false, scope: .send, isAudited: false, body: .lines, price: .send,
      refusals: [.tooMany],
      .reply(
        .other(
          Route.Body.Form.lines.mediaType,
          "a line each in the same order: its `status`, and the fields of a receipt or of a problem"),
        by: Sending.batch)),
    Route(
      .post, "/v1/notifications/read", .token, "notification read", "Mark notifications read",
      isCommand: false, isAudited: false,
      body: .json(Feeds.items, Feeds.upTo, rule: .oneOf(["items", "upTo"])), price: .read,
      .reply(.ok(Feeds.readShape), by: Feeds.markRead)),
    Route(
      .get, "/v1/notifications", .token, "notification unread", "List what is unread, or wait for it",
      isCommand: false, query: [Feeds.limit, Feeds.after, Feeds.wait], refusals: [.tooMany],
      .reply(.ok(Feeds.pageShape), by: Feeds.page)),
    Route(
      .get, "/v1/notifications/stream", .token, "notification stream",
      "Follow everything unread and then live, as Server-Sent Events", isCommand: false,
      query: [Feeds.after], refusals: [.tooMany],
      .stream(
        .other("text/event-stream", "events, until the client leaves or its token expires"), by: Feeds.stream)
    ),
    Route(
      .patch, "/v1/notifications/{messageServerId}", .token, "notification update",
      "Change a notification that was sent", scope: .send,
      body: .json(Sending.body, Sending.ext, Sending.status, rule: .someOf(["body", "ext", "status"])),
      refusals: [.notMember, .muted, .banned, .blocked, .mailboxFull, .conflict],
      .reply(.ok(Notification.shape), by: Sending.update)),
    Route(
      .get, "/v1/notifications/{messageServerId}/explain", .trusted, "notification explain",
      "Say why an account sees a notification or does not", isCommand: false, query: [Operators.account],
      .reply(.ok(Explanation.shape), by: Operators.explain)),
  ]

  /// How a send can go wrong.
  private static let sending: [Refusal.Code] = [
    .notFound, .notMember, .muted, .banned, .blocked, .mailboxFull, .conflict, .duplicateContent,
  ]
}
