// Shapes of answers that several resources share.

extension Shape {
  /// A page of accids.
  static let accountPage = Shape.page("accids", of: .account, "in no particular order")

  static let muted = Shape.resource(
    "Muted",
    [.always("accid", .account, "who"), .always("expiresAt", .time, "until when they cannot send")])

  /// Somebody who was asked, and has not answered.
  static let pendingRequest = Shape.resource(
    "PendingRequest",
    [.always("accid", .account, "who"), .always("requestId", .id, "what they answer with")])
}
