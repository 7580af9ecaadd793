// Shapes of answers that several resources share.

extension Shape {
  /// A page of accids.
  static let accountPage = Shape.page("accids", of: .account, "in no particular order")

  static let muted = Shape.resource(
    "Muted",
    [.always("accid", .account, "the muted member"), .always("expiresAt", .time, "when the mute ends")])

  /// An invitation or application that waits, for callers who may answer it or list it.
  static let waitingRequest = Shape.resource(
    "WaitingRequest",
    [
      .always("requestId", .id, "its id"),
      .always("accid", .account, "the account that is invited or that applies"),
      .always("expiresAt", .time, "when the invitation or the application expires"),
      .sometimes(
        "inviters", .list(.account), "the accounts that sent the invitation; absent for an application"),
      .sometimes("message", .text, "the message that came with it"),
    ])
  static let waitingRequests = Shape.page("requests", of: .waitingRequest, "in no particular order")

  /// An account that was asked and has not answered.
  static let pendingRequest = Shape.resource(
    "PendingRequest",
    [
      .always("accid", .account, "the invited account"),
      .always("requestId", .id, "the id to answer the invitation with"),
    ])
}
