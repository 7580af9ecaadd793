/// A member of a server.
public struct Member: Sendable, Hashable, Codable {
  public var accid: AccountID
  public var role: MemberRole
  /// To the server's own notifications; channels have subscriptions of their own.
  public var subscribed: Bool
}
