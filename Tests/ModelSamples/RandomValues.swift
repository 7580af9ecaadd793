package import BelfryModel
import TestKit

// Random values of the model, valid in every way that the type promises.

extension SeededGenerator {
  package mutating func account() -> AccountID {
    pick(["ann", "bob", "cid", "dora@example.org", "e-mail_7.x", "0"])
  }

  package mutating func accounts() -> [AccountID] {
    some(of: ["ann", "bob", "cid", "dora@example.org", "e-mail_7.x", "0"])
  }

  package mutating func entityID() -> EntityID {
    oneIn(4) ? pick([1, 9, 9_223_372_036_854_775_807]) : EntityID(bits: next())
  }

  /// Extremes now and then, and otherwise ids close enough together that partitions and milliseconds meet.
  package mutating func messageID() -> MessageID {
    if oneIn(8) { return pick([.zero, .last]) }
    return MessageID(
      unixMilliseconds: 1_763_700_000_000 + Int64(below(5)), partition: partition(),
      sequence: Int64(pick([0, 1, below(4_096), 4_095])))
  }

  package mutating func partition() -> Partition { pick(Partition.allCases) }

  package mutating func spaceID() -> SpaceID {
    switch below(3) {
    case 0: .server(entityID())
    case 1: .direct(entityID())
    default: .personal(account())
    }
  }

  package mutating func audience() -> Audience {
    var audience = Audience(
      pick([.all, .subscribed, .willing, .viewers, .named]), channel: nil, channelHasRoster: false,
      named: accounts(),
      except: accounts()
    ).ofChannel(oneIn(2) ? entityID() : nil, hasRoster: oneIn(2))
    if oneIn(3) { audience.expiresAt = 1_763_700_000_000 + Int64(below(1_000)) }
    audience.isMomentary = oneIn(4)
    return audience
  }

  /// In order, none touching the next, and only the last may still last.
  package mutating func intervals(atLeast least: Int = 0) -> Intervals {
    let count = max(least, below(Intervals.limit / 4 + 1))
    var distinct: Set<MessageID> = []
    // Drawing a fixed number would now and then give the same id each time, and no interval.
    while distinct.count < count * 2 + 2 { distinct.insert(messageID()) }
    let ends = distinct.sorted()
    var all = stride(from: 0, to: ends.count - 1, by: 2).prefix(count).map {
      Interval(after: ends[$0], through: ends[$0 + 1])
    }
    if let last = all.indices.last, oneIn(2) { all[last].through = nil }
    return Intervals(all)
  }

  package mutating func memberRecord() -> MemberRecord {
    var membership = Membership(intervals: intervals(atLeast: 1), subscription: intervals())
    for _ in 0..<below(4) {
      membership.channels[entityID()] = Membership.Channel(
        intervals: intervals(atLeast: 1), subscription: intervals(), allowed: intervals(),
        blocked: Restrictions(intervals()))
    }
    membership.stopped = Restrictions(intervals())
    var record = MemberRecord(role: pick(MemberRole.allCases), membership: membership)
    record.rights = .init(
      mutedUntilMilliseconds: oneIn(2) ? Int64(below(1_000)) : nil, isAllowListed: oneIn(2))
    for _ in 0..<below(3) { record.channelMutes[entityID()] = Int64(below(1_000)) }
    return record
  }

  package mutating func cursor() -> FeedCursor {
    var cursor = FeedCursor()
    for _ in 0..<below(6) {
      let id = messageID()
      cursor.reachAll([id.partition: id], .standard)
    }
    if oneIn(2) { cursor.takeIntoAccount(indexThrough: messageID()) }
    for _ in 0..<below(3) {
      let space = spaceID()
      _ = cursor.addLagging(space, since: messageID(), .standard)
    }
    return cursor
  }

  /// A text with characters that break careless readers: quotes, control characters, several scripts, emoji.
  package mutating func text(upTo characters: Int = 12) -> String {
    let alphabet = ["a", "Z", "0", " ", "\"", "\\", "/", "\n", "\t", "\u{1}", "é", "鐘", "🔔", "\u{301}", "{"]
    return (0..<below(characters + 1)).map { _ in pick(alphabet) }.joined()
  }

  package mutating func json(depth: Int = 3) -> JSONValue {
    switch below(depth > 0 ? 7 : 5) {
    case 0: .null
    case 1: .bool(oneIn(2))
    case 2: .integer(Int64(bitPattern: next()) >> Int64(below(64)))
    case 3: .number(Double(below(1_000)) + 0.5)
    case 4: .string(text())
    case 5: .array((0..<below(4)).map { _ in json(depth: depth - 1) })
    default:
      .object(JSONObject((0..<below(4)).map { _ in (text(), json(depth: depth - 1)) }))
    }
  }

  package mutating func content() -> NotificationContent {
    var content = NotificationContent(type: pick(Catalogue.all).code, toType: pick(ToType.allCases))
    if oneIn(2) { content.messageClientId = text() }
    if oneIn(2) { content.serverId = entityID() }
    if oneIn(2) { content.channelId = entityID() }
    if oneIn(2) { content.toAccids = accounts() }
    if oneIn(2) { content.fromAccount = account() }
    if oneIn(2) { content.fromDeviceId = "phone-1" }
    if oneIn(2) { content.body = text() }
    if oneIn(2) { content.ext = text() }
    if oneIn(2) { content.attach = attachment() }
    if oneIn(2) { content.pushPayload = .object(["aps": json()]) }
    if oneIn(2) { content.status = 10_000 + below(1_000) }
    content.setting.persistEnable = oneIn(2)
    content.setting.needBadge = oneIn(2)
    return content
  }

  /// A field that is absent and one that is `null` are the same to a reader of JSON.
  private mutating func attachment() -> JSONValue? {
    let value = json()
    return value == .null ? nil : value
  }

  package mutating func update() -> UpdateRecord {
    UpdateRecord(
      body: oneIn(2) ? text() : nil, ext: oneIn(2) ? text() : nil, status: oneIn(2) ? 10_000 : nil,
      updateTime: 1_763_700_000_000 + Int64(below(1_000)))
  }

  package mutating func indexChange() -> IndexChange {
    IndexChange(oneIn(2) ? .joined : .left, accounts())
  }
}

extension Audience {
  fileprivate func ofChannel(_ channel: EntityID?, hasRoster: Bool) -> Audience {
    var audience = self
    audience.channel = channel
    audience.channelHasRoster = channel != nil && hasRoster
    return audience
  }
}
