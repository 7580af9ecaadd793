import BelfryModel

/// The events on a stream of Server-Sent Events.
enum FeedEvents {
  static let all = [
    EventShape(
      "notification", Notification.shape,
      "unread so far; `id` is the cursor behind it, which what is not kept does not have"),
    EventShape(
      "updated", Notification.shape,
      "one that came before has another body, ext or status now; `id` is the cursor behind it"),
    EventShape(
      "retracted", retracted,
      "one that may have come before was recalled: it is not to be shown any more; `id` is the cursor behind it"
    ),
    EventShape(
      "preferences", AccountRoutes.preferencesShape,
      "the account wants to hear this now: drop all that is shown; what is left of it is shown again behind this"
    ),
    EventShape("read", read, "another device of the account has read these, or all up to one"),
    EventShape(
      "counts", counts,
      "how much is unread now; only with `counts=1`, at first and whenever it changes, at most once a second"),
    EventShape("gap", gap, "what lay between these has been dropped by retention"),
    EventShape("device", device, "another device of the account did something"),
    EventShape("kicked", kicked, "the last event: the broker ends the stream"),
  ]

  static let gap = Shape.resource(
    "Gap", [.always("from", .message, "from"), .always("to", .message, "to")])

  private static let retracted = Shape.resource(
    "RetractedEvent", [.always("messageServerId", .message, "which one")])

  static let counts = Shape.resource(
    "UnreadCounts",
    [
      .always("unread", .count, "all that is unread; at most \(Limits.countedUnread)"),
      .always("badge", .count, "those of them that count in the number on an app's icon (`needBadge`)"),
      .always(
        "spaces",
        .list(
          .resource(
            "UnreadInSpace",
            [
              .always("space", .space, "such as `server:7`, `group:9`, `account:alice`"),
              .always("unread", .count, "how much of it is unread"),
            ])), "those with something unread"),
      .always(
        "types",
        .list(
          .resource(
            "UnreadOfType",
            [
              .always("type", .integer([0...Int.max]), "the type; see `GET /v1/types`"),
              .always("unread", .count, "how many of it are unread"),
            ])), "those with something unread"),
      .always("isCapped", .flag, "whether more is unread than was counted"),
    ])

  private static let read = Shape.resource(
    "ReadEvent",
    [
      .sometimes("messageServerIds", .list(.message), "these are read"),
      .sometimes("upTo", .message, "everything up to this one is read"),
    ])
  private static let device = Shape.resource(
    "DeviceEvent",
    [
      .always("operation", .text, "what was done"),
      .always("of", .text, "in what kind of place, as in `in` of the types"),
      .always("target", .resource("DeviceEventTarget", .jsonObject(bytesMax: .max)), "to what and to whom"),
      .sometimes("device", .device, "by which device"),
    ])
  private static let kicked = Shape.resource(
    "KickedEvent",
    [
      .always("reason", .text, "why, in a stable word, such as `tokenExpired`"),
      .always("retry", .flag, "whether coming back at once can succeed"),
      .sometimes("byDevice", .device, "with `replaced`: the device whose stream took its place"),
    ])
}
