import BelfryModel

/// The events on a stream of Server-Sent Events.
enum FeedEvents {
  static let all = [
    EventShape(
      "notification", Notification.shape,
      "an unread notification; `id` is the cursor after it, absent if the notification is not stored"),
    EventShape(
      "updated", Notification.shape,
      "an earlier notification has a new body, ext or status; `id` is the cursor after it"),
    EventShape(
      "retracted", retracted,
      "a notification was recalled: stop showing it; `id` is the cursor after it"
    ),
    EventShape(
      "preferences", AccountRoutes.preferencesShape,
      "the account's preferences have changed, or the broker does not know what the device holds: drop everything shown; "
        + "all unread notifications that match the preferences follow"
    ),
    EventShape(
      "read", read,
      "another device of the account marked these notifications as read, or everything up to one of them"),
    EventShape(
      "counts", counts,
      "the number of unread notifications; only with `counts=1`, at the start and after each change, at most once a second"
    ),
    EventShape(
      "gap", gap,
      "notifications between these ids may be missing: retention dropped them, or Redis lost them"),
    EventShape("device", device, "another device of the account did something"),
    EventShape("kicked", kicked, "the last event: the broker ends the stream"),
  ]

  static let gap = Shape.resource(
    "Gap",
    [
      .always("from", .message, "the last id before the gap"),
      .always("to", .message, "the last id in the gap"),
    ])

  private static let retracted = Shape.resource(
    "RetractedEvent", [.always("messageServerId", .message, "the recalled notification")])

  private static let countedSpace: Property = {
    var space = Property.always("space", .space, "such as `server:7`, `group:9`, `account:alice`")
    space.isPlaceInWords = true
    return space
  }()

  static let counts = Shape.resource(
    "UnreadCounts",
    [
      .always("unread", .count, "the number of unread notifications; at most \(Limits.countedUnread)"),
      .always(
        "badge", .count, "the number of unread notifications that count in the badge of an app (`needBadge`)"),
      .always(
        "spaces",
        .list(
          .resource(
            "UnreadInSpace",
            [
              countedSpace,
              .always("unread", .count, "the number of unread notifications in it"),
            ])), "the spaces with unread notifications"),
      .always(
        "types",
        .list(
          .resource(
            "UnreadOfType",
            [
              .always("type", .integer([0...Int.max]), "the type; see `GET /v1/types`"),
              .always("unread", .count, "the number of unread notifications of it"),
            ])), "the types with unread notifications"),
      .always("isCapped", .flag, "whether more notifications are unread than were counted"),
    ])

  private static let read = Shape.resource(
    "ReadEvent",
    [
      .sometimes("messageServerIds", .list(.message), "the notifications that were read"),
      .sometimes("upTo", .message, "everything up to this id was read"),
    ])
  private static let device = Shape.resource(
    "DeviceEvent",
    [
      .always("operation", .text, "the operation"),
      .always("of", .text, "the subject of the operation: `server`, `channel`, `group` or `room`"),
      .always(
        "target", .resource("DeviceEventTarget", .jsonObject(bytesMax: .max)),
        "the space and the accounts concerned"),
      .sometimes("device", .device, "the device that did it"),
    ])
  private static let kicked = Shape.resource(
    "KickedEvent",
    [
      .always("reason", .text, "a stable reason code, such as `tokenExpired`"),
      .always("retry", .flag, "whether connecting again at once can succeed"),
      .sometimes("byDevice", .device, "with `replaced`: the device whose stream took its place"),
    ])
}
