/// Any account may open a room; it is its host and already inside.
package struct CreateRoom: Operation {
  package static let name = OperationName(.room, "create")

  package var space: SpaceID
  package var host: AccountID
  package var actor: Actor
  package var subject: String
  package var ext: String?
  /// The host's nick, picture and ext, shown while the room is open.
  package var hostInfo = ProfileRecord()

  package init(id: EntityID, host: AccountID, actor: Actor, subject: String) {
    space = .room(id)
    self.host = host
    self.actor = actor
    self.subject = subject
  }

  package var needs: [RecordAddress] {
    [.settings(space), .member(host, of: space), .former(host, of: space)]
  }
  package var counts: [RecordTable] { [.roster] }
  package var joiners: [AccountID] { [host] }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<RoomRecord> {
    try records.requireAbsent(RoomRecord.self, space)
    var room = RoomRecord(subject: subject, host: host, createdAt: context.nowMilliseconds)
    room.ext = ext
    var draft = Draft(space, room, isNew: true, by: actor, on: records, context)
    try draft.join(host, as: .host)
    try draft.writeAttendeeInfo(host, hostInfo)
    draft.list(ListingChange(.rooms, isListed: true, createdAt: room.createdAt))
    return Decision(try draft.finish(Self.name, target: ["roomId": .string(space.name)]), room)
  }
}

/// The host changes what the room is about.
package struct UpdateRoom: SpaceOperation {
  package static let name = OperationName(.room, "update")
  package static let access = Access.owner

  package var space: SpaceID
  package var actor: Actor
  /// Nil leaves it as it is; an empty `ext` clears it.
  package var subject: String?
  package var ext: String?

  package init(_ id: EntityID, actor: Actor, subject: String? = nil, ext: String? = nil) {
    space = .room(id)
    self.actor = actor
    self.subject = subject
    self.ext = ext
  }

  package func carryOut(_ draft: inout Draft<RoomRecord>) throws(Refusal) -> RoomRecord {
    let before = draft.settings
    if let subject {
      if subject.isEmpty { throw .invalid("subject", "must not be empty") }
      try NotificationContent.check(subject, "subject", characters: Limits.nameCharacters)
      draft.settings.subject = subject
    }
    if let ext {
      try NotificationContent.check(ext, "ext", bytes: 0...Limits.extBytes)
      draft.settings.ext = ext.isEmpty ? nil : ext
    }
    if draft.settings != before {
      draft.announce(Catalogue.roomUpdated, attach: ["roomInfo": draft.settings.info(space)])
    }
    return draft.settings
  }
}

/// The host may close the room, and everyone is out.
package struct CloseRoom: SpaceOperation {
  package static let name = OperationName(.room, "close")
  package static let access = Access.owner

  package var space: SpaceID
  package var actor: Actor

  package init(_ id: EntityID, actor: Actor) {
    space = .room(id)
    self.actor = actor
  }

  package func carryOut(_ draft: inout Draft<RoomRecord>) { draft.close() }
}

/// Takes accounts off the roster of a room that has closed.
///
/// Closing is one append, however many attendees there are, and cannot change all their records. But in each one's index
/// the room still counts as a space it is in, and those are limited. So a maintenance task removes the attendees
/// afterwards, some at a time. Nothing is announced, since the closing was.
package struct EmptyClosedRoom: Operation {
  package static let name = OperationName(.room, "empty")

  package var space: SpaceID
  package var accounts: [AccountID]

  package init(_ space: SpaceID, accounts: [AccountID]) {
    self.space = space
    self.accounts = accounts.withoutRepeats
  }

  package var needs: [RecordAddress] { [.settings(space)] + accounts.map { .member($0, of: space) } }

  package func decide(_ records: Records, context: DecisionContext) throws(Refusal) -> Decision<Void> {
    guard let room = try records.json(RoomRecord.self, .settings(space)), room.removedAt != nil else {
      return Decision(nil)
    }
    var draft = Draft(space, room, by: Actor(account: nil, isTrusted: true), on: records, context)
    for account in accounts {
      if let member = try draft.member(account) { draft.removeMember(account, member) }
    }
    return Decision(try draft.finish(Self.name, target: [:]))
  }
}

extension Draft<RoomRecord> {
  /// Closes the room for everybody. The roster is kept for a moment, so that everyone in it learns of the closing
  /// (``EmptyClosedRoom``).
  mutating func close() {
    settings.removedAt = nowMilliseconds
    remove([.presence, .hands, .requests, .profiles])
    list(ListingChange(.rooms, isListed: false, createdAt: settings.createdAt))
    wake(atMilliseconds: nowMilliseconds)
    announce(Catalogue.roomClosed, attach: ["roomInfo": settings.info(space)])
  }
}
