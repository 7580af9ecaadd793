/// The id of an invitation or application, derived from its kind, account and channel in a space, so that a second one
/// replaces the first.
///
/// An account that looks for long enough finds two names of its own choice with one id. ``Draft/ask(_:lastingMilliseconds:)``
/// refuses the second one's request while the first one's waits.
package struct RequestID: Sendable, Hashable {
  package let text: String

  package init(_ kind: RequestRecord.Kind, of account: AccountID, in space: SpaceID, channel: EntityID? = nil)
  {
    let purpose = "\(kind.rawValue) \(space.key) \(channel?.text ?? "") \(account)"
    text = EntityID(hashing: purpose).text
  }

  /// As a caller gives it; nil unless it is a positive decimal id.
  package init?(text: String) {
    guard let id = EntityID(text) else { return nil }
    self.text = id.text
  }
}

/// An invitation or an application that waits for an answer.
package struct RequestRecord: Sendable, Hashable, Codable {
  package enum Kind: String, Sendable, Codable, CaseIterable {
    case invitation, application
    case channelInvitation
    case stageInvitation
  }

  package var kind: Kind
  /// The account that is invited, or applies.
  package var account: AccountID
  /// Who invites; nil for an application.
  package var inviter: AccountID?
  package var channel: EntityID?
  package var message: String?

  package init(
    _ kind: Kind, of account: AccountID, inviter: AccountID? = nil, channel: EntityID? = nil,
    message: String? = nil
  ) {
    self.kind = kind
    self.account = account
    self.inviter = inviter
    self.channel = channel
    self.message = message
  }

  /// Whether both ask for the same, if perhaps by another inviter or in other words.
  func isSamePurpose(as other: RequestRecord) -> Bool {
    kind == other.kind && account == other.account && channel == other.channel
  }
}

extension Records {
  /// The request that waits.
  /// - Throws: `notFound` if there is none, if it is of another kind, or if it has expired.
  package func request(
    _ id: RequestID, _ kind: RequestRecord.Kind, in space: SpaceID, nowMilliseconds: Int64
  ) throws(Refusal) -> RequestRecord {
    let address = RecordAddress.request(id, of: space)
    guard let text = try lasting(address, nowMilliseconds: nowMilliseconds) else { throw .noRequest(id) }
    guard let request = RecordJSON.value(RequestRecord.self, text.rest) else { throw unreadable(address) }
    guard request.kind == kind else { throw .noRequest(id) }
    return request
  }

  /// The accounts that a request concerns, whose records are needed to answer it.
  package func accounts(ofRequest id: RequestID, in space: SpaceID) -> [AccountID] {
    guard let text = text(.request(id, of: space)).flatMap({ ExpiringText(text: $0) }),
      let request = RecordJSON.value(RequestRecord.self, text.rest)
    else { return [] }
    return [request.account] + (request.inviter.map { [$0] } ?? [])
  }
}

extension Refusal {
  static func noRequest(_ id: RequestID) -> Refusal {
    Refusal(
      .notFound, "there is no request \(id.text), or it has expired or was answered", field: "requestId")
  }
}
