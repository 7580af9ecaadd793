import BelfryFeed
import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

extension Sending {
  /// Repeats a send that an id identifies. A notification that has arrived is not sent again; one that has
  /// not is sent now. A request with a `messageServerId` never sends anything: only this broker gives such an
  /// id, and only once it has the notification.
  static func resend(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    let body = try SendRequest(ObjectFields(of: request.body), isResend: true)
    try body.requireName()
    guard let id = body.messageServerId else {
      return try await send(body, by: caller, request, services).response
    }
    let receipt = try await receipt(of: id, repeatedBy: body, of: caller, services)
    services.counts.count(receipt)
    return receipt.response
  }

  /// The receipt of a notification that was sent before. It works even if the dedupe window is over, or if
  /// the notification was changed or recalled.
  /// - Throws: `duplicateContent` if it was sent to another place. `notFound` if the caller has not sent it,
  ///   or if it is not known any more.
  private static func receipt(
    of id: MessageID, repeatedBy body: SendRequest, of caller: Caller, _ services: LoopServices
  ) async throws(Refusal) -> SendReceipt {
    let sends = try sends(body, by: caller, services)
    guard let send = sends.first else { throw .noNotification(id) }
    if let first = try await FirstNotification(id, for: caller, services),
      first.sender == send.actor.account
    {
      guard first.isToPlace(of: send) else { throw .otherNotification }
      return SendReceipt(
        repeating: send, id: id, time: first.time,
        body.content.messageClientId ?? first.content?.messageClientId)
    }
    return try await recentReceipt(of: id, repeatedBy: sends, services)
  }

  /// The receipt of a notification that no log holds, because it was ephemeral or all receivers have read it.
  private static func recentReceipt(
    of id: MessageID, repeatedBy sends: [SendNotification], _ services: LoopServices
  ) async throws(Refusal) -> SendReceipt {
    let repeated = sends.compactMap(\.repetition?.send)
    let known: [FirstSend] = try await reading { () async throws(StoreError) in
      try await services.store.firstSends(of: repeated)
    }
    guard let send = sends.first, case .same(let first, let appendedAt)? = known.first
    else { throw .forgottenNotification(id) }
    return SendReceipt(
      repeating: send, id: first, time: appendedAt ?? first.unixMilliseconds, send.content.messageClientId)
  }
}

/// A notification that a resend repeats, as its log has it.
private struct FirstNotification {
  let sender: AccountID?
  let time: Int64
  /// Nil if it was recalled.
  let content: NotificationContent?
  private let space: SpaceID

  /// Nil if the log does not have it, or if it has no sender.
  init?(_ id: MessageID, for caller: Caller, _ services: LoopServices) async throws(Refusal) {
    let located: LocatedEntry
    do throws(Refusal) {
      located = try await services.find(id, for: caller)
    } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
    (space, time) = (located.space, located.entry.time)
    content = NotificationContent(json: located.entry.content)
    if let content {
      guard content.type == Catalogue.custom.code else { return nil }
      sender = content.fromAccount
    } else {
      let address = RecordAddress.update(id, in: located.space)
      let update = try await services.records([address]).json(UpdateRecord.self, address)
      guard let recall = update?.recall else { return nil }
      sender = recall.sender
    }
  }

  /// True if the first send went to the same place. If the notification was recalled, only its space is
  /// known. A send to accounts by name has its own space each time.
  func isToPlace(of send: SendNotification) -> Bool {
    guard let content else { return space.kind == .direct || space == send.space }
    let other = send.content
    return content.serverId == other.serverId && content.channelId == other.channelId
      && content.groupId == other.groupId && content.roomId == other.roomId
      && content.toAccids == other.toAccids
  }
}

extension Refusal {
  fileprivate static var otherNotification: Refusal {
    Refusal(
      .duplicateContent, "this messageServerId belongs to a notification that was sent to other receivers",
      field: "messageServerId")
  }

  fileprivate static func forgottenNotification(_ id: MessageID) -> Refusal {
    Refusal(
      .notFound,
      "notification \(id) was sent, and is no longer kept: all its receivers have read it, it has expired, or it is too old. "
        + "Nothing needs to be sent again",
      field: "messageServerId")
  }
}
