/// One kind of record that a space keeps. Each is a Redis hash of its own, field by field.
package enum RecordTable: Sendable, Hashable {
  /// One field, `settings`: the space itself.
  case settings
  /// Who belongs, by accid. Its length is the member count, so the count can never disagree with it.
  case roster
  /// Who belonged and no longer does, by accid, kept until nothing they may still see is left.
  case former
  /// The channels of a server, by channel id.
  case channels
  /// Who stands in the roster of one channel, by accid.
  case channelRoster(EntityID)
  /// What became of entries after they were appended, by message id: an entry itself never changes.
  case amendments

  package var name: String {
    switch self {
    case .settings: "settings"
    case .roster: "roster"
    case .former: "former"
    case .channels: "channels"
    case .channelRoster(let channel): "channel:\(channel.text)"
    case .amendments: "amendments"
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

/// Where one record stands.
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

  package static func amendment(_ id: MessageID, in space: SpaceID) -> Self {
    Self(space, .amendments, id.text)
  }

  package var tableAddress: TableAddress { TableAddress(space, table) }
}

/// What an operation read: the exact text of each record it asked for, nil where there is none.
///
/// The text, not the decoded value, is what the commit compares: "the record is still what I read".
package struct Records: Sendable {
  package private(set) var texts: [RecordAddress: String?]

  package init(_ texts: [RecordAddress: String?] = [:]) { self.texts = texts }

  /// Nil where there is no record. Asking for a record that was not read is a programming error that
  /// would decide on nothing, so it is refused loudly in every build.
  package func text(_ address: RecordAddress) -> String? {
    guard let text = texts[address] else { preconditionFailure("\(address) was not among the needs") }
    return text
  }
}
