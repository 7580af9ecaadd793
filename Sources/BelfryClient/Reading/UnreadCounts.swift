import BelfryInterface

/// How much an account has unread: as much as paging through it would count.
public struct UnreadCounts: Sendable, Hashable, Codable {
  public struct Space: Sendable, Hashable, Codable {
    /// Such as `server:7`, `group:9` or `account:alice`.
    public var space: String
    public var unread: Int
  }

  public struct NotificationType: Sendable, Hashable, Codable {
    /// The code of the type.
    public var type: Int
    public var unread: Int
  }

  public var unread: Int
  /// Those of them that count in the number on an app's icon (``NotificationSetting/needBadge``).
  public var badge: Int
  /// Those with something unread.
  public var spaces: [Space]
  public var types: [NotificationType]
  /// Whether more is unread than was counted.
  public var isCapped: Bool
}

extension BelfryClient {
  /// Counts what is unread.
  public func counts() async throws(BelfryError) -> UnreadCounts {
    try await value(UnreadCounts.self, HTTPRequest(NotificationRoutes.counts.route))
  }
}
