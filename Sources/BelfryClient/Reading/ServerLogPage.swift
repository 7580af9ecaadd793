import BelfryInterface
package import BelfryModel

/// One page of a server's log, as operators read it.
package struct ServerLogPage: Sendable, Decodable {
  package struct Entry: Sendable, Decodable {
    package var event: String
    package var messageServerId: MessageID
    /// The audience, in the words of a log.
    package var audience: String
    /// The place behind the entry.
    package var cursor: String
    /// Nil if the notification was recalled.
    package var notification: Notification?
  }

  /// The oldest first.
  package var entries: [Entry]
  /// The place behind the page.
  package var cursor: String
  /// The part behind the cursor that may be missing. Nil if nothing is missing.
  package var gap: UnreadPage.Gap?
}

extension ServerLogPage.Entry {
  /// The event of a feed that says the same.
  package var feedEvent: FeedEvent {
    switch (ServerLogEvent(rawValue: event), notification) {
    case (.notification, let notification?): .notification(notification, cursor: cursor)
    case (.updated, let notification?): .updated(notification, cursor: cursor)
    case (.retracted, _): .retracted(messageServerId, cursor: cursor)
    default: .other(event: event, data: messageServerId.text)
    }
  }
}

extension BelfryClient {
  /// Fetches a page of a server's log. Needs the token of an operator.
  ///
  /// - Parameters:
  ///   - cursor: the cursor of the page before.
  ///   - last: without a cursor, the number of entries before the end at which the page begins. Nil means to begin with the
  ///     oldest entry.
  package func serverLog(
    of server: EntityID, limit: Int, after cursor: String?, last: Int?
  ) async throws(BelfryError) -> ServerLogPage {
    var request = HTTPRequest(OperatorRoutes.serverLog.route, server.text)
    request.ask("limit", String(limit))
    request.ask("after", cursor)
    request.ask("last", last.map(String.init))
    return try await value(ServerLogPage.self, request)
  }
}
