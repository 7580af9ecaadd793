/// One kind of record that a space keeps. Each is a Redis hash of its own, field by field.
package enum RecordTable: Sendable, Hashable {
  /// The space itself, in the field `settings`. A personal space has also `preferences`, those of its
  /// account.
  case settings
  /// The members, by accid. Its length is the member count.
  case roster
  /// Former members, by accid, kept until nothing that they may see is within retention.
  case former
  /// Updates of entries, by message id. The entries themselves never change.
  case updates
  /// Invitations and applications that wait for an answer, by request id. They expire.
  case requests
  /// A server's invite codes, by code. They expire.
  case codes
  /// Accounts that may not join (banned from a server, blocked from a group or by an account), by accid.
  case banned
  /// The profiles of members (nick, avatar, attributes), by accid.
  case profiles
  /// The muted and the allow-listed of a group, by accid. For listings only: the members' own records decide.
  case muted
  case allowed
  /// A group's shared files, by file id.
  case files
  /// The times until which a room's attendees count as present, by accid, milliseconds since 1970.
  case presence
  /// Raised hands in a room, by accid.
  case hands
  /// The channels of a server, by channel id.
  case channels
  /// The roster of one channel, by accid.
  case channelRoster(EntityID)
  /// The muted, the allow-listed and the blocked of one channel, by accid.
  case channelMuted(EntityID)
  case channelAllowed(EntityID)
  case channelBlocked(EntityID)

  package var name: String {
    switch self {
    case .settings: "settings"
    case .roster: "roster"
    case .former: "former"
    case .updates: "updates"
    case .requests: "requests"
    case .codes: "codes"
    case .banned: "banned"
    case .profiles: "profiles"
    case .muted: "muted"
    case .allowed: "allowed"
    case .files: "files"
    case .presence: "presence"
    case .hands: "hands"
    case .channels: "channels"
    case .channelRoster(let channel): "channel:\(channel.text)"
    case .channelMuted(let channel): "muted:\(channel.text)"
    case .channelAllowed(let channel): "allowed:\(channel.text)"
    case .channelBlocked(let channel): "blocked:\(channel.text)"
    }
  }

  /// Its records in words, for refusals: `invite codes`.
  package var contents: String {
    switch self {
    case .settings: "settings"
    case .roster: "members"
    case .former: "former members"
    case .updates: "updates of notifications"
    case .requests: "pending invitations and applications"
    case .codes: "invite codes"
    case .banned: "banned or blocked accounts"
    case .profiles: "profiles"
    case .muted: "muted members"
    case .allowed: "accounts on the allow list"
    case .files: "shared files"
    case .presence: "present attendees"
    case .hands: "raised hands"
    case .channels: "channels"
    case .channelRoster(let channel): "members in channel \(channel.text)"
    case .channelMuted(let channel): "muted members in channel \(channel.text)"
    case .channelAllowed(let channel): "accounts on the allow list of channel \(channel.text)"
    case .channelBlocked(let channel): "accounts on the block list of channel \(channel.text)"
    }
  }

  /// The way to make room in the table, for refusals: `revoke one`.
  package var wayToMakeRoom: String {
    switch self {
    case .codes: "revoke one"
    case .banned: "unban one"
    case .muted, .channelMuted: "unmute one"
    case .allowed, .channelAllowed: "take one off the list"
    case .channelBlocked: "unblock one"
    case .requests: "answer one"
    default: "remove one"
    }
  }

  /// The channel that the table belongs to; nil for a table of the space.
  package var channel: EntityID? {
    switch self {
    case .channelRoster(let channel), .channelMuted(let channel), .channelAllowed(let channel),
      .channelBlocked(let channel):
      channel
    default: nil
    }
  }

  /// The tables of a space itself.
  package static let ofSpace: [RecordTable] = [
    .settings, .roster, .former, .updates, .requests, .codes, .banned, .profiles, .muted, .allowed,
    .files, .presence, .hands, .channels,
  ]

  /// The tables that a channel has for itself.
  package static func of(_ channel: EntityID) -> [RecordTable] {
    [.channelRoster(channel), .channelMuted(channel), .channelAllowed(channel), .channelBlocked(channel)]
  }

  /// True if its records begin with the time at which they expire (``ExpiringText``).
  package var expires: Bool {
    switch self {
    case .requests, .codes, .muted, .channelMuted: true
    default: false
    }
  }
}

/// A whole table of one space.
package struct TableAddress: Sendable, Hashable {
  package let space: SpaceID
  package let table: RecordTable

  package init(_ space: SpaceID, _ table: RecordTable) {
    self.space = space
    self.table = table
  }
}

/// The address of one record: its table and field.
package struct RecordAddress: Sendable, Hashable {
  package let space: SpaceID
  package let table: RecordTable
  package let field: String

  package init(_ space: SpaceID, _ table: RecordTable, _ field: String) {
    self.space = space
    self.table = table
    self.field = field
  }

  package static func settings(_ space: SpaceID) -> Self { Self(space, .settings, "settings") }
  package static func member(_ account: AccountID, of space: SpaceID) -> Self {
    Self(space, .roster, account.text)
  }
  package static func former(_ account: AccountID, of space: SpaceID) -> Self {
    Self(space, .former, account.text)
  }
  package static func channel(_ channel: EntityID, of space: SpaceID) -> Self {
    Self(space, .channels, channel.text)
  }
  package static func channelMember(_ account: AccountID, channel: EntityID, of space: SpaceID) -> Self {
    Self(space, .channelRoster(channel), account.text)
  }
  package static func request(_ id: RequestID, of space: SpaceID) -> Self { Self(space, .requests, id.text) }
  package static func banned(_ account: AccountID, from space: SpaceID) -> Self {
    Self(space, .banned, account.text)
  }
  package static func profile(_ account: AccountID, in space: SpaceID) -> Self {
    Self(space, .profiles, account.text)
  }
  package static func update(_ id: MessageID, in space: SpaceID) -> Self {
    Self(space, .updates, id.text)
  }

  package var tableAddress: TableAddress { TableAddress(space, table) }
}

/// The records that an operation read: the exact text of each; nil if there is none. The commit compares
/// these texts, not the decoded values.
package struct Records: Sendable {
  package private(set) var texts: [RecordAddress: String?]
  /// Values that were decoded from these very texts before; see ``RecordAddress/settings(decoding:)``. Mostly
  /// there are one or two.
  private var decoded: [(address: RecordAddress, value: any Sendable)] = []

  package init(_ texts: [RecordAddress: String?] = [:]) { self.texts = texts }

  package mutating func add(_ others: Records) {
    texts.merge(others.texts) { _, later in later }
    decoded.removeAll { others.texts[$0.address] != nil }
    decoded += others.decoded
  }

  /// - Parameter value: the value that the text was decoded to before; nil if it was not.
  package mutating func add(_ text: String?, decodedTo value: (any Sendable)?, at address: RecordAddress) {
    texts.updateValue(text, forKey: address)
    if let value { decoded.append((address, value)) }
  }

  func decodedBefore<Value>(_ address: RecordAddress, as _: Value.Type) -> Value? {
    decoded.last { $0.address == address }?.value as? Value
  }

  /// Nil if there is no record. Asking for a record that was not among the needs is a programming error,
  /// which stops every build rather than decide on nothing.
  package func text(_ address: RecordAddress) -> String? {
    guard let text = texts[address] else { preconditionFailure("\(address) was not among the needs") }
    return text
  }
}
