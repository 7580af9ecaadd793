package import BelfryModel

/// Sending, receiving and marking read.
package enum NotificationRoutes {
  package static let all: [Route] = [
    send.route, resend.route, batch.route, read.route, page.route, counts.route, stream.route,
    makeTicket.route, update.route, recall.route,
  ]

  // MARK: Sending

  /// The refusals of a send.
  private static let sendRefusals: [Refusal.Code] = [
    .notFound, .notMember, .muted, .banned, .disabled, .blocked, .mailboxFull, .conflict, .duplicateContent,
  ]
  private static let sendOptions = RouteOptions(
    hasCommand: false, scope: .send, isAudited: false, price: .send)

  package static let send = endpoint(
    .post, "/v1/notifications", .token, "notification send", "Send a notification",
    ownBody: .object(SendShapes.body), refusals: sendRefusals,
    answers: .created(SendShapes.receipt, isLocated: false), .ok(SendShapes.receipt), options: sendOptions)
  package static let resend = endpoint(
    .post, "/v1/notifications/resend", .token, "notification resend",
    "Resend a notification unless it was sent already", ownBody: .object(SendShapes.resendBody),
    refusals: sendRefusals, answers: .created(SendShapes.receipt, isLocated: false), .ok(SendShapes.receipt),
    options: sendOptions)

  static let linesMeaning =
    "one notification per line, each like the body of `POST /v1/notifications`; at most "
    + "\(Limits.notificationsPerBatch)"
  package static let batch = endpoint(
    .post, "/v1/notifications/batch", .token, "notification batch", "Send many notifications, one per line",
    ownBody: .lines, refusals: [.tooMany],
    answers: .other(
      RouteBody.Form.lines.mediaType,
      "one line per notification, in the same order: its `status`, and the fields of a receipt or of a problem"
    ),
    options: RouteOptions(hasCommand: false, scope: .send, isAudited: false, price: .batch))

  private static let newBody = Field("body", .text(bytes: 0...Limits.bodyBytes), "the new body")
  private static let newExt = Field("ext", .text(bytes: 0...Limits.extBytes), "the new ext")
  private static let newStatus = Field("status", .status, "the new status")
  package static let update = endpoint(
    .patch, "/v1/notifications/{messageServerId}", .token, "notification update",
    "Update a notification", path: SharedFields.messageServerId,
    body: newBody, newExt, newStatus, rule: .someOf(["body", "ext", "status"]),
    refusals: [.notMember, .muted, .banned, .disabled, .blocked, .mailboxFull, .conflict],
    answers: .ok(Notification.shape),
    options: RouteOptions(
      done: "changed the notification", example: ["body": "\"Practice is at eight\""], scope: .send))

  package static let recall = endpoint(
    .delete, "/v1/notifications/{messageServerId}", .token, "notification recall",
    "Recall a notification", path: SharedFields.messageServerId,
    refusals: [.notFound, .forbidden, .conflict],
    options: RouteOptions(done: "recalled", question: "Recall", scope: .send))

  // MARK: Marking read

  private static let readID = Field("messageServerId", .message, "the notification").needed
  /// The id alone identifies the notification. Other systems also ask for `type`, so it is accepted.
  private static let readItem = Kind<MessageID>.object(
    readID, Field("type", .integer(Int.min...Int.max), "its type; ignored"), named: "ReadItem"
  ) { id, _ in id }
  private static let items = Field(
    "items", .list(readItem, counts: 1...Limits.itemsPerMarkRead), "the notifications to mark")
  private static let upTo = Field("upTo", .message, "mark everything up to this id")

  package static let read = endpoint(
    .post, "/v1/notifications/read", .token, "notification read", "Mark notifications read",
    body: items, upTo, rule: .oneOf(["items", "upTo"]),
    answers: .ok(
      .resource(
        "ReadCount", [.always("read", .count, "the number of notifications that were unread until now")])),
    options: RouteOptions(hasCommand: false, isAudited: false, price: .read))

  // MARK: Receiving

  /// The longest wait of a request. Proxies in between give up after about a minute.
  package static let waitMaxSeconds = 60

  static let pageLimit = Field(
    "limit", .integer(1...Limits.pageNotificationsMaximum), "the maximum number of results"
  ).otherwise(Limits.pageNotifications, .integer(Int64(Limits.pageNotifications)))
  static let after = Field("after", Kind<FeedCursor>.cursor, "continue after this cursor")
  private static let wait = Field(
    "wait", .integer(0...waitMaxSeconds), "the seconds to wait if nothing is unread yet"
  ).otherwise(0, 0)

  package static let page = endpoint(
    .get, "/v1/notifications", .token, "notification unread", "List unread notifications, or wait for them",
    query: pageLimit, after, wait, refusals: [.tooMany],
    answers: .ok(
      .resource(
        "FeedPage",
        [
          .always("notifications", .list(Notification.shape), "the unread notifications, oldest first"),
          .always("cursor", .cursor, "the cursor to pass as `after` next time"),
          .sometimes("gap", FeedEvents.gap, "notifications between these ids may be missing"),
        ])), options: RouteOptions(hasCommand: false))

  package static let counts = endpoint(
    .get, "/v1/notifications/counts", .token, "notification counts", "Count unread notifications",
    answers: .ok(FeedEvents.counts))

  static let withCounts = Field(
    "counts", .integer(0...1), "1: also send the number of unread notifications whenever it changes"
  ).otherwise(0, 0)

  package static let lastEventID = Field(
    "Last-Event-ID", Kind<FeedCursor>.cursor, "continue after this cursor; overrides `after`")
  package static let stream = endpoint(
    .get, "/v1/notifications/stream", .token, "notification stream",
    "Stream unread and then live notifications, as Server-Sent Events", query: after, withCounts, ticket,
    headers: lastEventID,
    refusals: [.tooMany],
    answers: .events(FeedEvents.all),
    options: RouteOptions(hasCommand: false, takesTicket: true))

  // MARK: Tickets

  /// Longer than a browser needs from getting the ticket to opening the stream, also over a very slow network.
  package static let ticketSeconds = 30

  package static let ticket = Field(
    "ticket", .text(bytes: 1...128), "a ticket instead of a token; valid once, and for half a minute")

  /// A ticket lets its holder do no more than the caller who makes it, so every caller who may follow a feed may make one.
  package static let makeTicket = endpoint(
    .post, "/v1/notifications/stream/tickets", .token, "notification ticket",
    "Create a ticket that opens a stream without a token, for browsers",
    answers: .created(
      .resource(
        "StreamTicket",
        [
          .always("ticket", .text, "the value for `ticket`; valid once"),
          .always("expiresInSeconds", .count, "how long the ticket is valid"),
        ]), isLocated: false),
    options: RouteOptions(hasCommand: false, scope: .read, isAudited: false))
}
