/// A transaction in the making: the changes and announcements of an operation so far, over the records that
/// it read.
///
/// A draft answers as things will be once it is committed, so that an operation on ten accounts sees at the
/// third what it has done to the second.
package struct Draft<Record: SpaceRecord> {
  package let space: SpaceID
  package let actor: Actor
  package let records: Records
  package let context: DecisionContext
  /// Written if the operation changes them.
  package var settings: Record
  package private(set) var transaction: Transaction
  /// False if the actor's other devices need not know, as of a heartbeat.
  package var isEchoed = true
  /// The name in the echo, if it is known only while the operation is carried out; nil: the operation's.
  package var echoName: OperationName?

  private let settingsBefore: Record?
  private var members: [AccountID: MemberRecord?] = [:]
  private var joined: [AccountID] = []
  private var left: [AccountID] = []
  /// The invited accounts. The key is the channel that they are invited to; nil: the space itself.
  private var invited: [EntityID?: [AccountID]] = [:]
  /// The number of records by which each table has grown so far.
  private var grown: [RecordTable: Int] = [:]

  /// - Parameter isNew: true if this draft creates the space.
  package init(
    _ space: SpaceID, _ settings: Record, isNew: Bool = false, by actor: Actor, on records: Records,
    _ context: DecisionContext
  ) {
    self.space = space
    self.actor = actor
    self.records = records
    self.context = context
    self.settings = settings
    settingsBefore = isNew ? nil : settings
    transaction = Transaction(space)
    transaction.charged = actor.charged
  }

  package var nowMilliseconds: Int64 { context.nowMilliseconds }
  package var limits: Limits { context.limits }

  /// The transaction; nil if nothing changes.
  package consuming func finish(_ name: OperationName, target: JSONValue) throws(Refusal) -> Transaction? {
    if settings != settingsBefore {
      transaction.changes[.settings(space)] = try RecordJSON.text(settings)
    }
    if !joined.isEmpty { transaction.indexChanges.append(IndexChange(.joined, joined)) }
    if !left.isEmpty { transaction.indexChanges.append(IndexChange(.left, left)) }
    transaction.indexChanges += invited.map { IndexChange(.invited, to: $0, $1) }
    guard !transaction.isEmpty else { return nil }
    // Records of other spaces, such as an account's options, are not checked again: only the space itself is
    // locked.
    transaction.preconditions = records.texts.filter { $0.key.space == space }
    transaction.changedMemberships = transaction.changedMemberships.withoutRepeats
    if isEchoed, let account = actor.account {
      transaction.echo = DeviceEcho(
        account: account, device: actor.device, operation: echoName ?? name, target: target)
    }
    return transaction
  }
}

// MARK: - The actor

extension Draft {
  /// The account that acts; a trusted caller has to name one.
  package func actingAccount() throws(Refusal) -> AccountID {
    guard let account = actor.account else {
      throw .invalid("Belfry-Account", "is needed: it names the account to act for")
    }
    return account
  }

  /// The actor's member record; nil for a trusted caller in nobody's name, and for an account that is no member.
  package func actingMember() throws(Refusal) -> MemberRecord? {
    guard let account = actor.account else { return nil }
    return try member(account)
  }

  package var actsAsOwner: Bool { actor.isTrusted || actor.account == settings.owner }

  package func require(_ access: Access, to what: String) throws(Refusal) {
    if actor.isTrusted { return }
    switch access {
    case .anyAccount, .ownRule: return
    case .trusted: throw Refusal(.forbidden, "only an app or operator token may \(what)")
    case .members: _ = try requireMember()
    case .administrators: try requireRole([.owner, .admin, .host], to: what)
    case .owner: try requireRole([.owner, .host], to: what)
    }
  }

  /// The actor's member record.
  /// - Throws: `notMember`.
  @discardableResult
  package func requireMember() throws(Refusal) -> MemberRecord {
    guard let record = try member(try actingAccount()) else {
      throw .notMember(of: space)
    }
    return record
  }

  package func requireSome(_ accounts: [AccountID], field: String = "accids") throws(Refusal) {
    if accounts.isEmpty { throw .invalid(field, "must name at least one account") }
    guard accounts.count <= Limits.accountsPerCall else {
      throw .invalid(field, "must name at most \(Limits.accountsPerCall) accounts, not \(accounts.count)")
    }
  }

  private func requireRole(_ roles: Set<MemberRole>, to what: String) throws(Refusal) {
    let record = try requireMember()
    guard roles.contains(record.role) else {
      let wanted =
        Record.kind == .room ? "the host" : roles.contains(.admin) ? "the owner or an admin" : "the owner"
      throw Refusal(.forbidden, "only \(wanted) may \(what)")
    }
  }
}

// MARK: - Hidden spaces and channels

extension Draft {
  /// Refuses a space or channel that is hidden from the actor, as if it did not exist.
  package func requireInSight(channel: EntityID?) throws(Refusal) {
    try requireSpaceInSight()
    if let channel { try requireChannelInSight(channel) }
  }

  /// Refuses a space that is hidden from accounts that are no members, as if it did not exist.
  func requireSpaceInSight() throws(Refusal) {
    guard !actor.isTrusted, settings.isHiddenFromStrangers else { return }
    if try actingMember() == nil { throw .absent(space) }
  }

  /// Refuses a channel that the member does not see, as if it did not exist. Accounts that are no members of the server
  /// are refused by other rules.
  func requireChannelInSight(_ id: EntityID) throws(Refusal) {
    guard !actor.isTrusted, let member = try actingMember() else { return }
    if try records.channel(id, of: space).isHidden(id, from: member) { throw .noChannel(id, in: space) }
  }
}

// MARK: - Members

extension Draft {
  package func member(_ account: AccountID) throws(Refusal) -> MemberRecord? {
    if let changed = members[account] { return changed }
    return try records.member(account, of: space)
  }

  /// The record of a member that the request names.
  /// - Throws: `notFound`.
  package func knownMember(_ account: AccountID, field: String = "accids") throws(Refusal) -> MemberRecord {
    guard let member = try member(account) else {
      throw Refusal(.notFound, "\(account) is not a member of \(Record.kind) \(space.name)", field: field)
    }
    return member
  }

  /// - Parameter seesOtherwise: true if the change affects what the account sees, so that its consumers have
  ///   to read its membership again.
  package mutating func set(_ member: MemberRecord, for account: AccountID, seesOtherwise: Bool = false) {
    members[account] = .some(member)
    transaction.changes[.member(account, of: space)] = member.text
    if seesOtherwise { transaction.changedMemberships.append(account) }
  }

  /// Adds the account to the roster, with its earlier membership intervals and restrictions within retention. Needs the
  /// records `member` and `former`, the count of the roster, and the account among the joiners.
  /// - Throws: `tooMany` by the limits of the account, of the space, and of membership intervals.
  package mutating func addMember(
    _ account: AccountID, as role: MemberRole, membersMax: Int
  ) throws(Refusal) {
    try checkRoom(for: account, membersMax: membersMax)
    var member =
      try records.former(account, of: space) ?? MemberRecord(role: role, membership: .never)
    member.role = role
    member.membership.forget(before: context.forgottenFloor)
    try begin(
      &member.membership.intervals, atMost: Record.kind.intervalsMax,
      "\(account) has been in \(Record.kind) \(space.name)")
    set(member, for: account, seesOtherwise: true)
    transaction.changes[.former(account, of: space)] = .some(nil)
    joined.append(account)
  }

  private mutating func checkRoom(for account: AccountID, membersMax: Int) throws(Refusal) {
    let most = limits.spacesPerAccount(Record.kind)
    guard context.spacesOfJoiners[account]?.current ?? 0 < most else {
      throw Refusal(
        .tooMany,
        "\(account) is already in \(most) \(Record.kind)s, which is the limit, and must leave one first")
    }
    guard context.counts[.roster, default: 0] + joined.count < membersMax else {
      throw Refusal(
        .tooMany,
        "\(Record.kind) \(space.name) holds at most \(membersMax) members; add fewer, or remove some first")
    }
    transaction.ceilings[.roster] = membersMax
  }

  /// Moves the account from the roster to the former members. The account still sees the announcements of
  /// this commit, and no later entries.
  package mutating func removeMember(_ account: AccountID, _ member: MemberRecord) {
    var member = member
    for (channel, membership) in member.membership.channels {
      if membership.intervals.current != nil {
        transaction.changes[.channelMember(account, channel: channel, of: space)] = .some(nil)
      }
      if membership.allowed.current != nil {
        transaction.changes[RecordAddress(space, .channelAllowed(channel), account.text)] = .some(nil)
      }
    }
    member.nick = nil
    member.membership.leave(through: .endOfThisCommit)
    member.membership.forget(before: context.forgottenFloor)
    members[account] = .some(nil)
    transaction.changes[.member(account, of: space)] = .some(nil)
    transaction.changes[.former(account, of: space)] = member.text
    transaction.changedMemberships.append(account)
    left.append(account)
  }
}

// MARK: - Intervals

extension Draft {
  /// Begins an interval with this commit.
  /// - Parameter what: the state that was set so often, for the refusal; see
  ///   ``Intervals/open(after:retentionFloor:atMost:_:)``.
  package func begin(
    _ intervals: inout Intervals, atMost most: Int = Intervals.limit, _ what: @autoclosure () -> String
  ) throws(Refusal) {
    try intervals.open(
      after: .beforeThisCommit, retentionFloor: context.retentionFloor, atMost: most, what())
  }

  /// Begins an interval with this commit, or ends the one that lasts.
  package func set(
    _ intervals: inout Intervals, to lasts: Bool, _ what: @autoclosure () -> String
  ) throws(Refusal) {
    if lasts { try begin(&intervals, what()) } else { intervals.close(through: .beforeThisCommit) }
  }

  /// Begins a restriction with this commit, or ends the one that lasts, which may be refused.
  package func set(
    _ restrictions: inout Restrictions, to lasts: Bool, _ what: @autoclosure () -> String
  ) throws(Refusal) {
    if lasts {
      restrictions.begin(after: .beforeThisCommit)
    } else {
      try restrictions.end(through: .beforeThisCommit, retentionFloor: context.retentionFloor, what())
    }
  }
}

// MARK: - Records

extension Draft {
  /// - Parameter text: the new text of the record; nil removes it.
  package mutating func change(_ address: RecordAddress, to text: String?) {
    transaction.changes[address] = .some(text)
  }

  /// Lets a table grow to so many records, also if many operations add to it at once.
  package mutating func limit(_ table: RecordTable, to records: Int) { transaction.ceilings[table] = records }

  /// Adds a record to a table of limited size, or replaces it. Needs the record and the count of its table.
  /// - Throws: `tooMany` if the record is new and the table is full.
  package mutating func put(_ address: RecordAddress, _ text: String, atMost most: Int) throws(Refusal) {
    let table = address.table
    if records.text(address) == nil {
      let what =
        "\(Record.kind) \(space.name) already has \(most) \(table.contents), which is the limit; \(table.wayToMakeRoom) first"
      try grow(table, atMost: most, else: Refusal(.tooMany, what))
    }
    change(address, to: text)
  }

  /// Counts one more record of a table of limited size. Needs the count of the table.
  /// - Throws: the refusal if the table is full.
  package mutating func grow(
    _ table: RecordTable, atMost most: Int, else refusal: @autoclosure () -> Refusal
  ) throws(Refusal) {
    grown[table, default: 0] += 1
    guard context.counts[table, default: 0] + grown[table, default: 0] <= most else { throw refusal() }
    limit(table, to: most)
  }

  /// Lets the account's list of invitations name the space, or a channel of it.
  mutating func noteInvitation(_ request: RequestRecord) {
    switch request.kind {
    case .invitation, .channelInvitation: invited[request.channel, default: []].append(request.account)
    // The account itself applies. A call on stage ends within a minute.
    case .application, .stageInvitation: break
    }
  }

  package mutating func remove(_ tables: [RecordTable]) { transaction.removedTables += tables }
  package mutating func list(_ change: ListingChange) { transaction.listing = change }
  package mutating func wake(atMilliseconds time: Int64) { transaction.wakeAtMilliseconds = time }
}

// MARK: - Announcing

extension Draft {
  /// Announces an event by its row of the catalogue. Parties that do not belong to the space get it in their
  /// personal spaces; the needs must have their `member` records.
  ///
  /// - Parameters:
  ///   - happensToAll: every member is a party; in a channel everyone who sees it, except the owner and the
  ///     admins of a private one, who have to be among the parties.
  ///   - except: accounts that the rule leaves out.
  ///   - only: limits the receivers to these members; nil: all of them.
  ///   - expireAt: the time after which nobody is shown it, milliseconds since 1970; nil: it does not expire.
  ///     Its parties have to belong to the space.
  package mutating func announce(
    _ type: NotificationType, attach: JSONValue? = nil, parties: [AccountID] = [],
    happensToAll: Bool = false, channel: NotificationType.ChannelScene? = nil, except: [AccountID] = [],
    only: [AccountID]? = nil, expireAt: Int64? = nil
  ) {
    var content = content(type, attach, channel)
    content.expireAt = expireAt
    let outsiders = parties.filter { !belongs($0) }
    transaction.deliveries += outsiders.withoutRepeats.map { Delivery(content, to: $0) }
    var audience = type.audience(
      parties: parties.filter { !outsiders.contains($0) }, happensToAll: happensToAll,
      administrators: settings.administrators,
      actor: actor.account, channel: channel, except: except, only: only)
    audience.expiresAt = expireAt
    if audience.rule == .named, audience.named.isEmpty { return }
    transaction.announcements.append(Announcement(content, to: audience))
  }

  /// True if the account belongs to the space before or after this commit: an account that joins or leaves by
  /// it sees its announcements.
  private func belongs(_ account: AccountID) -> Bool {
    if case .some(.some) = members[account] { return true }
    // Owners and admins are members.
    if settings.administrators.contains(account) { return true }
    return records.text(.member(account, of: space)) != nil
  }

  /// The nick that the actor has in the space: after this commit, or before it if the commit removes the
  /// actor.
  private var actorNick: String? {
    guard let account = actor.account else { return nil }
    if case .some(.some(let changed)) = members[account] { return changed.nick }
    guard case .some(.some(let text)) = records.texts[.member(account, of: space)] else { return nil }
    return MemberRecord(text: text)?.nick
  }

  private func content(
    _ type: NotificationType, _ attach: JSONValue?, _ channel: NotificationType.ChannelScene?
  ) -> NotificationContent {
    var content = NotificationContent(type: type.code, toType: channel == nil ? Record.kind.toType : .channel)
    let id = EntityID(space.name)
    switch Record.kind {
    case .server: content.serverId = id
    case .group: content.groupId = id
    case .room: content.roomId = id
    case .account, .direct: break
    }
    content.channelId = channel?.id
    content.fromAccount = actor.account
    content.fromNick = actorNick
    content.fromDeviceId = actor.device
    content.attach = attach
    return content
  }
}

extension SpaceKind {
  /// The word of the wire for a notification to a space of this kind.
  var toType: ToType {
    switch self {
    case .server: .server
    case .group: .group
    case .room: .room
    case .account, .direct: .accounts
    }
  }
}

extension JSONValue {
  package static func accids(_ accounts: [AccountID]) -> JSONValue {
    .array(accounts.map { .string($0.text) })
  }
}
