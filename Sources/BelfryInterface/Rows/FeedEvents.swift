import BelfryModel

/// What comes on a stream of Server-Sent Events.
enum FeedEvents {
  static let all = [
    EventShape(
      "notification", Notification.shape,
      "unread so far; `id` is the cursor behind it, which what is not kept does not have"),
    EventShape(
      "updated", Notification.shape,
      "one that came before has another body, ext or status now; `id` is the cursor behind it"),
    EventShape("read", read, "another device of the account has read these, or all up to one"),
    EventShape("gap", gap, "what lay between these has been dropped by retention"),
    EventShape("device", device, "another device of the account did something"),
    EventShape("kicked", kicked, "the last event: the broker ends the stream"),
  ]

  static let gap = Shape.resource(
    "Gap", [.always("from", .message, "from"), .always("to", .message, "to")])

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
    ])
}
