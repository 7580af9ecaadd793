/// A room's settings.
package struct RoomRecord: SpaceRecord {
  package static let kind = SpaceKind.room

  package var subject: String
  package var ext: String?
  /// The host. It never changes: when the host leaves, the room closes.
  package var owner: AccountID
  package var createdAt: Int64
  package var removedAt: Int64?

  package init(subject: String, host: AccountID, createdAt: Int64) {
    self.subject = subject
    owner = host
    self.createdAt = createdAt
  }

  package var admins: [AccountID] { [] }

  package func info(_ space: SpaceID) -> JSONValue {
    var info: JSONObject = [
      "roomId": .string(space.name), "subject": .string(subject), "host": .string(owner.text),
      "createTime": .integer(createdAt),
    ]
    if let ext { info["ext"] = .string(ext) }
    return .object(info)
  }
}

/// The microphone of an attendee on stage. Without such a record it is on: a guest is heard from the moment of coming on
/// stage, and the host from the beginning.
package struct StageRecord: Sendable, Hashable, Codable {
  package var microphone: Bool

  package init(microphone: Bool) { self.microphone = microphone }
}

extension MemberRole {
  /// True if an attendee of this role is heard. A listener never is.
  package func isHeard(_ record: StageRecord?) -> Bool {
    (self == .host || self == .guest) && record?.microphone ?? true
  }
}

extension RecordAddress {
  /// Until when the attendee counts as present, milliseconds since 1970.
  package static func presence(_ account: AccountID, in space: SpaceID) -> Self {
    Self(space, .presence, account.text)
  }
  /// The nick, avatar and ext that the attendee gave. No accid has a colon, so it is nobody's microphone.
  package static func attendeeInfo(_ account: AccountID, in space: SpaceID) -> Self {
    Self(space, .profiles, "info:\(account.text)")
  }
  /// Since when the hand is raised, milliseconds since 1970.
  package static func hand(_ account: AccountID, in space: SpaceID) -> Self {
    Self(space, .hands, account.text)
  }
  /// The version of the attendee list: the last id of the latest commit that changed an attendee or a role.
  package static func attendeeList(of space: SpaceID) -> Self { Self(space, .settings, "attendees") }
}
