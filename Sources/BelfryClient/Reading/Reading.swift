import BelfryInterface
import FoundationEssentials

/// Some of what is unread, oldest first.
public struct UnreadPage: Sendable, Hashable, Codable {
  public var notifications: [Notification]
  /// The place behind the last of them, for the next page or for ``BelfryClient/notifications(after:)``; nil
  /// when there is no such place yet.
  public var cursor: String?
  /// What the cursor asked for and retention has dropped; nil when nothing is missing.
  public var gap: Gap?

  public struct Gap: Sendable, Hashable, Codable {
    public var from: MessageID
    public var to: MessageID
  }
}

extension BelfryClient {
  /// What is unread and not yet past the cursor, oldest first.
  ///
  /// - Parameters:
  ///   - limit: how many at most; nil leaves it to the broker.
  ///   - waitSeconds: when there is nothing, waits so long for something.
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

  /// Marks single notifications as read, for good and on all devices of the account. Up to 500 in one call.
  /// - Returns: how many of them were unread until now.
  @discardableResult
  public func markRead(_ notifications: [Notification]) async throws(BelfryError) -> Int {
    try await markRead(items: notifications.map { ReadItem($0.messageServerId, type: $0.content.type) })
  }

  /// The same for notifications of which only the ids are at hand.
  @discardableResult
  public func markRead(items: [ReadItem]) async throws(BelfryError) -> Int {
    try await markRead(Marking(items: items))
  }

  /// Marks everything up to this notification as read; ``MessageID/last`` for everything there is.
  /// - Returns: how many were unread until now.
  @discardableResult
  public func markRead(upTo id: MessageID) async throws(BelfryError) -> Int {
    try await markRead(Marking(upTo: id))
  }

  private func markRead(_ marking: Marking) async throws(BelfryError) -> Int {
    // Marking twice is marking once; only the count of a repeated call would be lower.
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

/// One notification to mark as read.
public struct ReadItem: Sendable, Hashable, Codable {
  public var messageServerId: MessageID
  /// The notification's type; nil when it is not known.
  public var type: Int?

  public init(_ messageServerId: MessageID, type: Int? = nil) {
    self.messageServerId = messageServerId
    self.type = type
  }
}
