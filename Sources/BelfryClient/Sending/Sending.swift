import BelfryInterface
import FoundationEssentials

extension BelfryClient {
  /// Sends a notification once, whatever happens to the answers on the way.
  ///
  /// Without a `messageClientId` it is given one, so that the tries of this call are one send. An error tells it
  /// (``BelfryError/messageClientId``), to send again what may not have arrived.
  public func send(_ notification: NewNotification) async throws(BelfryError) -> SendReceipt {
    var notification = notification
    notification.messageClientId = notification.messageClientId ?? UUID().uuidString
    return try await send(notification, to: NotificationRoutes.send.route)
  }

  /// Sends a notification whose first send may or may not have arrived. The same as ``send(_:)``, but
  /// refused without a `messageClientId`.
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

  /// Sends up to 1,000 notifications in one request. One result each, in the same order; a refused one
  /// does not hold up the others. They go side by side: two for the same space may change places on the way.
  ///
  /// Tried once, since one refusal for now among a thousand answers is no reason to repeat them all. Those
  /// without a `messageClientId` are given none here; where the outcome of one is unknown, its error has the id that the
  /// broker made for it.
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
        .protocol, "\(notifications.count) notifications were sent and \(results.count) results came back")
    }
    return results
  }

  private static func batchResult(_ line: Data) -> Result<SendReceipt, BelfryError> {
    let decoder = JSONDecoder()
    if let receipt = try? decoder.decode(SendReceipt.self, from: line) { return .success(receipt) }
    let status = try? decoder.decode(BatchStatus.self, from: line)
    return .failure(BelfryError(HTTPHead(status: status?.status ?? 0, headers: [:]), body: line))
  }

  private struct BatchStatus: Decodable { var status: Int }

  /// Takes a notification back: nobody is shown it any more, and receivers are told
  /// (``FeedEvent/retracted(_:cursor:)``). Doing it twice is doing it once.
  public func recall(_ id: MessageID) async throws(BelfryError) {
    _ = try await answer(HTTPRequest(NotificationRoutes.recall.route, id.text, isRepeatable: true))
  }

  /// Changes a notification that was sent. Nil leaves a field as it is. Receivers are told
  /// (``FeedEvent/updated(_:cursor:)``), and who fetches later sees the new content.
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
