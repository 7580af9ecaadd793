/// A member of a server.
public struct Member: Sendable, Hashable, Codable {
  public var accid: AccountID
  public var role: MemberRole
  /// When the account joined, milliseconds since 1970.
  public var joinTime: Int64?
}
