/// The id of an invitation or application: the same for the same account and purpose in a space, so a
/// second one takes the place of the first instead of waiting beside it.
package struct RequestID: Sendable, Hashable {
  package let text: String

  package init(_ kind: RequestRecord.Kind, of account: AccountID, in space: SpaceID, channel: EntityID? = nil)
  {
    let purpose = "\(kind.rawValue) \(space.key) \(channel?.text ?? "") \(account)"
    text = EntityID(bits: StableHash.fnv1a(purpose)).text
  }

  /// As a caller gives it; nil unless it is a positive decimal id.
  package init?(text: String) {
    guard let id = EntityID(text) else { return nil }
    self.text = id.text
  }
}

/// An invitation or an application that waits for its answer.
package struct RequestRecord: Sendable, Hashable, Codable {
  package enum Kind: String, Sendable, Codable, CaseIterable {
    case invitation, application
    case channelInvitation
    case stageInvitation
  }

  package var kind: Kind
  /// Who is invited, or applies.
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
}

extension Records {
  /// The request, unless there is none, it is of another kind, or it has expired: to whoever answers it,
  /// all three are the same.
  package func request(
    _ id: RequestID, _ kind: RequestRecord.Kind, in space: SpaceID, nowMilliseconds: Int64
  ) throws(Refusal) -> RequestRecord {
    let address = RecordAddress.request(id, of: space)
    guard let text = try lasting(address, nowMilliseconds: nowMilliseconds) else { throw .noRequest(id) }
    guard let request = RecordJSON.value(RequestRecord.self, text.rest) else { throw unreadable(address) }
    guard request.kind == kind else { throw .noRequest(id) }
    return request
  }

  /// Whom a request speaks of: what an operation that answers it has to read next.
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
