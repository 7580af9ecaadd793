import BelfryInterface
import FoundationEssentials

extension BelfryClient {
  /// Sends a notification once, even if answers are lost on the way.
  ///
  /// If the notification has no `messageClientId`, the client makes one, so that all tries of this call are one send. If an
  /// error leaves open if it was sent, ``BelfryError/messageClientId`` is the id to send it again with.
  ///
  /// - Throws: ``BelfryError/Code/notFound`` if the place does not exist, or if an account that `toAccids` names is not a
  ///   member of it; ``BelfryError/Code/notMember``, ``BelfryError/Code/muted``, ``BelfryError/Code/banned``,
  ///   ``BelfryError/Code/disabled`` or ``BelfryError/Code/forbidden`` if the sender may not send there;
  ///   ``BelfryError/Code/blocked`` or ``BelfryError/Code/mailboxFull`` if a receiver does not take it: leave that receiver
  ///   out; ``BelfryError/Code/duplicateContent`` if the same `messageClientId` was sent with other content;
  ///   ``BelfryError/Code/refusedByCallback`` if a callback of the deployment refuses it.
  public func send(_ notification: NewNotification) async throws(BelfryError) -> SendReceipt {
    var notification = notification
    notification.messageClientId = notification.messageClientId ?? UUID().uuidString
    return try await send(notification, to: NotificationRoutes.send.route)
  }

  /// Sends a notification again if its first send may have failed. It works as ``send(_:)``, but never makes a
  /// `messageClientId`.
  ///
  /// - Throws: ``BelfryError/Code/invalidField`` if there is no `messageClientId`, and the same errors as ``send(_:)``.
  public func resend(_ notification: NewNotification) async throws(BelfryError) -> SendReceipt {
    try await send(notification, to: NotificationRoutes.resend.route)
  }

  private func send(
    _ notification: NewNotification, to route: Route
  ) async throws(BelfryError) -> SendReceipt {
    var request = HTTPRequest(route, isRepeatable: true)
    request.body = try Self.encode(notification)
    do {
      return try await value(SendReceipt.self, request)
    } catch {
      var error = error
      if error.leavesOutcomeOpen { error.messageClientId = notification.messageClientId }
      throw error
    }
  }

  /// Sends up to 1,000 notifications in one request. A refused one does not hold up the others. They are sent side by side,
  /// so two of them for the same space may arrive in either order.
  ///
  /// The batch is tried once: one passing refusal among a thousand answers is no reason to repeat them all. Give each
  /// notification a `messageClientId`, so that you can repeat single ones; the client makes none here. If the outcome of one
  /// is unknown, its error has the id that the broker made for it.
  ///
  /// - Returns: one result for each notification, in the same order. A failed one has the errors of ``send(_:)``. After
  ///   ``BelfryError/Code/rateLimited``, pause and send that notification again with the same `messageClientId`.
  /// - Throws: an error of the batch as a whole. After ``BelfryError/Code/transport``, send all of them again with the same
  ///   ids. ``BelfryError/Code/tooMany`` means more than 1,000, ``BelfryError/Code/tooLarge`` more than 8 MiB.
  public func sendBatch(
    _ notifications: [NewNotification]
  ) async throws(BelfryError) -> [Result<SendReceipt, BelfryError>] {
    guard !notifications.isEmpty else { return [] }
    var lines = Data()
    for notification in notifications {
      lines += try Self.encode(notification)
      lines.append(UInt8(ascii: "\n"))
    }
    var request = HTTPRequest(NotificationRoutes.batch.route, isRepeatable: false)
    request.headers = ["Content-Type": "application/x-ndjson"]
    request.body = lines
    let results = try await answer(request).split(separator: UInt8(ascii: "\n")).map(Self.batchResult)
    guard results.count == notifications.count else {
      throw BelfryError(
        .protocol,
        "\(notifications.count) notifications were sent, but \(results.count) results came back: check what arrived before you "
          + "send again")
    }
    return results
  }

  private static func batchResult(_ line: Data) -> Result<SendReceipt, BelfryError> {
    let decoder = JSONDecoder()
    if let receipt = try? decoder.decode(SendReceipt.self, from: line) { return .success(receipt) }
    let status = try? decoder.decode(BatchStatus.self, from: line)
    let head = HTTPHead(
      status: status?.status ?? 0, headers: ["content-type": ProblemDocument.mediaType])
    return .failure(BelfryError(head, body: line))
  }

  private struct BatchStatus: Decodable { var status: Int }

  /// Recalls a notification. From then on nobody is shown it, and receivers are told
  /// (``FeedEvent/retracted(_:cursor:)``). A second recall changes nothing and succeeds.
  ///
  /// - Throws: ``BelfryError/Code/notFound`` if there is no such notification, or if the account does not see it;
  ///   ``BelfryError/Code/forbidden`` if the account did not send it; ``BelfryError/Code/conflict`` if others kept changing
  ///   the same space: try again.
  public func recall(_ id: MessageID) async throws(BelfryError) {
    _ = try await answer(HTTPRequest(NotificationRoutes.recall.route, id.text, isRepeatable: true))
  }

  /// Changes a notification that was sent. A field that is nil stays as it is. Receivers are told
  /// (``FeedEvent/updated(_:cursor:)``), and accounts that fetch it later see the new content.
  ///
  /// - Returns: the notification as it is now.
  /// - Throws: ``BelfryError/Code/notFound`` if there is no such notification, if it was recalled, or if the account does not
  ///   see it; ``BelfryError/Code/forbidden`` if the account may not change it; ``BelfryError/Code/invalidField`` if all
  ///   fields are nil; and the same errors as ``send(_:)`` if the account can no longer send there.
  public func update(
    _ id: MessageID, body: String? = nil, ext: String? = nil, status: Int? = nil
  ) async throws(BelfryError) -> Notification {
    var request = HTTPRequest(NotificationRoutes.update.route, id.text, isRepeatable: true)
    request.body = try Self.encode(Update(body: body, ext: ext, status: status))
    return try await value(Notification.self, request)
  }

  private struct Update: Encodable {
    var body: String?
    var ext: String?
    var status: Int?
  }
}
