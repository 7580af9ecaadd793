/// The id of an invitation or application, derived from its kind, account and channel in a space, so that a second one
/// renews the first.
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

/// How a caller names a request: by its id, or by the account that is invited or that applies.
///
/// An accid may consist of digits alone, and then looks like an id. The id comes first: it is what a notification tells.
package struct RequestName: Sendable, Hashable {
  /// Nil if the text cannot be an id.
  package let id: RequestID?
  package let account: AccountID

  package init?(_ text: String) {
    guard let account = AccountID(text) else { return nil }
    self.account = account
    id = RequestID(text: text)
  }

  /// The ids that it may stand for, in the order in which they are tried. Never empty.
  package func possibleIDs(
    _ kind: RequestRecord.Kind, in space: SpaceID, channel: EntityID? = nil
  ) -> [RequestID] {
    (id.map { [$0] } ?? []) + [RequestID(kind, of: account, in: space, channel: channel)]
  }
}

/// An invitation or an application that waits for an answer.
package struct RequestRecord: Sendable, Hashable {
  package enum Kind: String, Sendable, Codable, CaseIterable {
    case invitation, application
    case channelInvitation
    case stageInvitation
  }

  package var kind: Kind
  /// The account that is invited, or applies.
  package var account: AccountID
  /// The accounts that invite, the first one first. Each of them hears the answer. Empty for an application.
  package private(set) var inviters: [AccountID]
  package var channel: EntityID?
  package var message: String?

  package init(
    _ kind: Kind, of account: AccountID, inviter: AccountID? = nil, channel: EntityID? = nil,
    message: String? = nil
  ) {
    self.init(kind, of: account, inviters: inviter.map { [$0] } ?? [], channel: channel, message: message)
  }

  package init(
    _ kind: Kind, of account: AccountID, inviters: [AccountID], channel: EntityID? = nil,
    message: String? = nil
  ) {
    self.kind = kind
    self.account = account
    self.inviters = inviters
    self.channel = channel
    self.message = message
  }

  /// True if both ask for the same. The inviters and the words may differ.
  func isSamePurpose(as other: RequestRecord) -> Bool {
    kind == other.kind && account == other.account && channel == other.channel
  }

  /// Puts the inviters of the request that waits in front of this one's, so that they hear the answer, too. If they are more
  /// than ``Limits/invitersPerRequest``, the latest are kept.
  package mutating func keepInviters(of waiting: RequestRecord) {
    inviters = Array((waiting.inviters + inviters).withoutRepeats.suffix(Limits.invitersPerRequest))
  }
}

extension RequestRecord: Codable {
  private enum CodingKeys: String, CodingKey {
    case kind, account, inviters, channel, message
    /// Builds before `inviters` kept the last one only.
    case inviter
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    kind = try fields.decode(Kind.self, forKey: .kind)
    account = try fields.decode(AccountID.self, forKey: .account)
    let inviter = try fields.decodeIfPresent(AccountID.self, forKey: .inviter)
    inviters =
      try fields.decodeIfPresent([AccountID].self, forKey: .inviters) ?? inviter.map { [$0] } ?? []
    channel = try fields.decodeIfPresent(EntityID.self, forKey: .channel)
    message = try fields.decodeIfPresent(String.self, forKey: .message)
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(kind, forKey: .kind)
    try fields.encode(account, forKey: .account)
    if !inviters.isEmpty { try fields.encode(inviters, forKey: .inviters) }
    try fields.encodeIfPresent(channel, forKey: .channel)
    try fields.encodeIfPresent(message, forKey: .message)
  }
}

extension Records {
  /// The request that waits.
  /// - Throws: `notFound` if there is none, if it is of another kind, or if it has expired.
  package func request(
    _ id: RequestID, _ kind: RequestRecord.Kind, in space: SpaceID, nowMilliseconds: Int64
  ) throws(Refusal) -> RequestRecord {
    let address = RecordAddress.request(id, of: space)
    guard let text = try lasting(address, nowMilliseconds: nowMilliseconds) else { throw .noRequest(kind) }
    guard let request = RecordJSON.value(RequestRecord.self, text.rest) else { throw unreadable(address) }
    guard request.kind == kind else { throw .noRequest(kind) }
    return request
  }

  /// The accounts that a request concerns, whose records are needed to answer it.
  package func accounts(ofRequest id: RequestID, in space: SpaceID) -> [AccountID] {
    guard let text = text(.request(id, of: space)).flatMap({ ExpiringText(text: $0) }),
      let request = RecordJSON.value(RequestRecord.self, text.rest)
    else { return [] }
    return [request.account] + request.inviters
  }
}

extension Refusal {
  /// Without the id, which the caller may never have seen: a request can be named by its account, too.
  static func noRequest(_ kind: RequestRecord.Kind) -> Refusal {
    let request =
      switch kind {
      case .invitation: "invitation"
      case .application: "application"
      case .channelInvitation: "invitation to this channel"
      case .stageInvitation: "invitation to the stage"
      }
    return Refusal(
      .notFound, "no such \(request) is pending: it was answered already, it has expired, or there was none",
      field: kind == .stageInvitation ? "token" : "requestId")
  }
}
