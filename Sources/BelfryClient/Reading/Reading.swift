import BelfryInterface
import FoundationEssentials

/// One page of the unread notifications, the oldest first.
///
/// ```swift
/// var page = try await client.unread(limit: 100)
/// while !page.notifications.isEmpty {
///   page.notifications.forEach(show)
///   try await client.markRead(page.notifications)
///   page = try await client.unread(limit: 100, after: page.cursor)
/// }
/// ```
public struct UnreadPage: Sendable, Hashable, Codable {
  /// The notifications.
  public var notifications: [Notification]
  /// The place behind the last notification, for the next page or for
  /// ``BelfryClient/notifications(after:withCounts:over:)``. Nil if there is no such place yet.
  public var cursor: String?
  /// The part behind the cursor that is gone. Nil if nothing is missing.
  public var gap: Gap?

  /// A range of ids in which notifications may be missing: retention has dropped them, or Redis has lost them.
  ///
  /// ```swift
  /// if let gap = try await client.unread(after: savedCursor).gap {
  ///   print("everything between \(gap.from) and \(gap.to) is gone")
  /// }
  /// ```
  public struct Gap: Sendable, Hashable, Codable {
    /// The missing part begins after this id.
    public var from: MessageID
    /// The missing part ends with this id.
    public var to: MessageID
  }
}

extension BelfryClient {
  /// Fetches a page of the unread notifications behind the cursor, the oldest first.
  ///
  /// - Parameters:
  ///   - limit: the most notifications to return, 1 to 500. Nil means 50.
  ///   - cursor: the cursor of the page before, or of an event of a feed. Nil means to begin with the oldest.
  ///   - waitSeconds: how long to wait for a notification if there is none, 0 to 60 seconds. Nil means not to wait.
  /// - Throws: ``BelfryError/Code/invalidField`` for a cursor that is not one of Belfry's: begin without one;
  ///   ``BelfryError/Code/tooMany`` if the account has too many streams and waiting requests open: end some.
  public func unread(
    limit: Int? = nil, after cursor: String? = nil, waitSeconds: Int? = nil
  ) async throws(BelfryError) -> UnreadPage {
    var request = HTTPRequest(NotificationRoutes.page.route)
    request.ask("limit", limit.map(String.init))
    request.ask("after", cursor)
    request.ask("wait", waitSeconds.map(String.init))
    request.holdSeconds = Double(max(waitSeconds ?? 0, 0))
    return try await value(UnreadPage.self, request)
  }

  /// Marks notifications as read, for good and on all devices of the account. At most 500 in one call.
  ///
  /// - Returns: how many of them were unread until now.
  /// - Throws: ``BelfryError/Code/invalidField`` for none or for more than 500; ``BelfryError/Code/conflict`` if other
  ///   devices kept marking at the same time: try again.
  @discardableResult
  public func markRead(_ notifications: [Notification]) async throws(BelfryError) -> Int {
    try await markRead(items: notifications.map { ReadItem($0.messageServerId, type: $0.content.type) })
  }

  /// Marks notifications as read by their ids. See ``markRead(_:)``.
  ///
  /// - Returns: how many of them were unread until now.
  @discardableResult
  public func markRead(items: [ReadItem]) async throws(BelfryError) -> Int {
    try await markRead(Marking(items: items))
  }

  /// Marks everything up to and including this notification as read, on all devices of the account.
  /// ``MessageID/last`` marks everything.
  ///
  /// - Returns: how many notifications were unread until now.
  /// - Throws: ``BelfryError/Code/conflict`` if other devices kept marking at the same time: try again.
  @discardableResult
  public func markRead(upTo id: MessageID) async throws(BelfryError) -> Int {
    try await markRead(Marking(upTo: id))
  }

  private func markRead(_ marking: Marking) async throws(BelfryError) -> Int {
    // Marking twice has the effect of marking once. Only the count of a repeated call is lower.
    var request = HTTPRequest(NotificationRoutes.read.route, isRepeatable: true)
    request.body = try Self.encode(marking)
    return try await value(Marked.self, request).read
  }

  private struct Marking: Encodable {
    var items: [ReadItem]?
    var upTo: MessageID?
  }

  private struct Marked: Decodable { var read: Int }
}

/// One notification to mark as read, by its id.
///
/// ```swift
/// let count = try await client.markRead(items: [ReadItem(messageID)])
/// ```
public struct ReadItem: Sendable, Hashable, Codable {
  /// The id of the notification.
  public var messageServerId: MessageID
  /// The type of the notification. Nil if it is not known. The broker does not look at it.
  public var type: Int?

  /// Makes an item from an id.
  public init(_ messageServerId: MessageID, type: Int? = nil) {
    self.messageServerId = messageServerId
    self.type = type
  }
}
