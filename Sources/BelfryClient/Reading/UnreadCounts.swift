import BelfryInterface

/// How much an account has unread: the number of notifications that all pages together would have.
///
/// ```swift
/// let counts = try await client.counts()
/// print(counts.isCapped ? "more than \(counts.unread)" : "\(counts.unread)", "unread")
/// ```
public struct UnreadCounts: Sendable, Hashable, Codable {
  /// How much is unread in one space.
  ///
  /// ```swift
  /// for space in try await client.counts().spaces { print(space.space, space.unread) }
  /// ```
  public struct Space: Sendable, Hashable, Codable {
    /// The space, such as `server:7`, `group:9`, or `account:alice` for what was sent to alice alone.
    public var space: String
    /// How many of its notifications are unread.
    public var unread: Int
  }

  /// How much is unread of one type.
  ///
  /// ```swift
  /// for type in try await client.counts().types where type.type == 100 { print("messages:", type.unread) }
  /// ```
  public struct NotificationType: Sendable, Hashable, Codable {
    /// The code of the type.
    public var type: Int
    /// How many notifications of the type are unread.
    public var unread: Int
  }

  /// How many notifications are unread, at most 10,000.
  public var unread: Int
  /// How many of them count in the number on an app's icon (``NotificationSetting/needBadge``).
  public var badge: Int
  /// The spaces with something unread.
  public var spaces: [Space]
  /// The types with something unread.
  public var types: [NotificationType]
  /// True if more is unread than was counted. All numbers here are then those of the first 10,000.
  public var isCapped: Bool
}

extension BelfryClient {
  /// Counts the unread notifications of the account.
  public func counts() async throws(BelfryError) -> UnreadCounts {
    try await value(UnreadCounts.self, HTTPRequest(NotificationRoutes.counts.route))
  }
}
