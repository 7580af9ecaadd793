internal import BelfryBytes

/// The role of an account in a space. Servers and groups have an owner, admins and members. A room has a host, guests on stage,
/// and listeners.
///
/// ```swift
/// let admins = try await client.members(of: server).items.filter { $0.role == .admin }
/// ```
public enum MemberRole: String, Sendable, Codable, CaseIterable {
  /// The owner of a server or a group.
  case owner
  /// An admin of a server or a group.
  case admin
  /// Another member of a server or a group.
  case member
  /// The host of a room.
  case host
  /// An attendee of a room who is on stage.
  case guest
  /// Another attendee of a room.
  case listener

  /// The letter that represents the role in a record.
  var letter: String {
    switch self {
    case .owner: "o"
    case .admin: "a"
    case .member: "m"
    case .host: "h"
    case .guest: "g"
    case .listener: "l"
    }
  }

  init?(letter: UInt8) {
    guard let role = Self.letters.first(where: { $0.letter == letter })?.role else { return nil }
    self = role
  }

  private static let letters = allCases.map { (letter: $0.letter.utf8.first, role: $0) }
}

/// An account in a space's roster, or in the table of former members.
///
/// The record has everything about a sender that a send has to know, so that a send reads one record. Tables
/// that list accounts of one kind (the muted, the allow-listed) say the same for listings, changed in the
/// same commit.
package struct MemberRecord: Sendable, Hashable {
  /// The account's rights in a group.
  package struct Rights: Sendable, Hashable {
    /// The time until which it cannot send, milliseconds since 1970.
    package var mutedUntilMilliseconds: Int64?
    /// True if it may send although all are muted.
    package var isAllowListed: Bool

    package init(mutedUntilMilliseconds: Int64? = nil, isAllowListed: Bool = false) {
      self.mutedUntilMilliseconds = mutedUntilMilliseconds
      self.isAllowListed = isAllowListed
    }

    package func isMuted(nowMilliseconds: Int64) -> Bool {
      mutedUntilMilliseconds.map { $0 > nowMilliseconds } ?? false
    }
  }

  package var role: MemberRole
  package var membership: Membership
  package var rights = Rights()
  /// For each channel of the server the time until which it cannot send there, milliseconds since 1970.
  package var channelMutes: [EntityID: Int64] = [:]
  /// The nick of its profile in a server. A copy, so that a send that takes it reads no other record.
  package var nick: String?

  package init(role: MemberRole, membership: Membership) {
    self.role = role
    self.membership = membership
  }
}

// MARK: - The record's text

// `m 1763700000000-4096` is a member since that stream id. Nearly every one of a million members has no more
// than that: 24 bytes. Other facts follow, a word each, so that a record stays readable in `redis-cli`:
//
//     a 1763700000000-4096 1763700000000-8192        an admin who has left
//     m 1763700000000-4096 s/1763700000000-8192      subscribed since
//     m 1763700000000-4096 x/1763700000000-8192      receives no custom notifications since
//     m 1763700000000-4096 c77/1763700000000-8192    in the roster of channel 77 since
//     m 1763700000000-4096 d77/1763700000000-8192    subscribed to channel 77 since
//     m 1763700000000-4096 b77/1763700000000-8192    blocked from channel 77 since
//     m 1763700000000-4096 q/1763700600000           muted until then; q77/… in channel 77
//     m 1763700000000-4096 w/1                       on the allow list of the group
//     m 1763700000000-4096 w77/1763700000000-8192    on the allow list of channel 77 since
//     m 1763700000000-4096 n/RW0                     with the nick Em, in base64url: a nick may have blanks
//
// An interval is `<after>` or `<after>,<through>`; intervals of one kind are joined by `;`.
extension MemberRecord {
  package var text: String {
    var words = [role.letter, membership.intervals.text]
    if !membership.subscription.isEmpty { words.append("s/" + membership.subscription.text) }
    if !membership.stopped.isEmpty { words.append("x/" + membership.stopped.intervals.text) }
    if let until = rights.mutedUntilMilliseconds { words.append("q/\(until)") }
    if rights.isAllowListed { words.append("w/1") }
    for (id, channel) in membership.channels.sorted(by: { $0.key < $1.key }) {
      if !channel.intervals.isEmpty { words.append("c\(id.text)/" + channel.intervals.text) }
      if !channel.subscription.isEmpty { words.append("d\(id.text)/" + channel.subscription.text) }
      if !channel.allowed.isEmpty { words.append("w\(id.text)/" + channel.allowed.text) }
      if !channel.blocked.isEmpty { words.append("b\(id.text)/" + channel.blocked.intervals.text) }
    }
    for (id, until) in channelMutes.sorted(by: { $0.key < $1.key }) { words.append("q\(id.text)/\(until)") }
    if let nick { words.append("n/" + Base64URL.encode(nick.utf8)) }
    return words.joined(separator: " ")
  }

  /// Nil when `text` is not a member record.
  package init?(text: String) { self.init(bytes: ArraySlice(text.utf8)) }

  /// Nil if the bytes are not a member record. A feed reads one for each of its spaces. Most records have
  /// only a role and one interval.
  package init?(bytes: ArraySlice<UInt8>) {
    let space = UInt8(ascii: " ")
    let rest = bytes.dropFirst(2)
    let end = rest.firstIndex(of: space) ?? rest.endIndex
    guard let letter = bytes.first, let role = MemberRole(letter: letter), bytes.dropFirst().first == space,
      let intervals = Intervals(bytes: rest[..<end])
    else { return nil }
    self.init(role: role, membership: Membership(intervals: intervals))
    if end == rest.endIndex { return }
    guard let words = String(validating: rest[end...], as: UTF8.self) else { return nil }
    for word in words.split(separator: " ") {
      guard let slash = word.utf8.firstIndex(of: UInt8(ascii: "/")), let kind = word.first,
        slash != word.startIndex
      else {
        return nil
      }
      let name = word[word.index(after: word.startIndex)..<slash]
      let channel = EntityID(String(name))
      guard name.isEmpty || channel != nil else { return nil }
      guard read(kind, channel, word[word.index(after: slash)...]) else { return nil }
    }
  }

  private mutating func read(_ kind: Character, _ channel: EntityID?, _ text: Substring) -> Bool {
    switch (kind, channel) {
    case ("q", _):
      guard let until = Int64(text) else { return false }
      if let channel { channelMutes[channel] = until } else { rights.mutedUntilMilliseconds = until }
      return true
    case ("w", nil):
      rights.isAllowListed = true
      return text == "1"
    case ("n", nil):
      nick = Base64URL.decode(text.utf8).flatMap { String(validating: $0, as: UTF8.self) }
      return nick != nil
    default:
      guard let intervals = Intervals(text: text) else { return false }
      return read(kind, channel, intervals)
    }
  }

  private mutating func read(_ kind: Character, _ channel: EntityID?, _ intervals: Intervals) -> Bool {
    switch (kind, channel) {
    case ("s", nil): membership.subscription = intervals
    case ("x", nil): membership.stopped = Restrictions(intervals)
    case ("c", let id?): membership.channels[id, default: .init()].intervals = intervals
    case ("d", let id?): membership.channels[id, default: .init()].subscription = intervals
    case ("w", let id?): membership.channels[id, default: .init()].allowed = intervals
    case ("b", let id?): membership.channels[id, default: .init()].blocked = Restrictions(intervals)
    default: return false
    }
    return true
  }
}

extension Intervals {
  package var text: String {
    all.map { interval in
      interval.after.streamForm + (interval.through.map { "," + $0.streamForm } ?? "")
    }.joined(separator: ";")
  }

  /// Nil if `text` is not one interval or more. A record leaves out empty intervals.
  package init?(text: Substring) { self.init(bytes: ArraySlice(text.utf8)) }

  package init?(bytes: ArraySlice<UInt8>) {
    // Nearly all are one interval that lasts.
    if let after = MessageID(streamBytes: bytes) {
      self = .since(after)
      return
    }
    var intervals: [Interval] = []
    for part in bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
      guard let interval = Interval(bytes: part) else { return nil }
      intervals.append(interval)
    }
    self.init(intervals)
  }
}

extension Interval {
  fileprivate init?(bytes: ArraySlice<UInt8>) {
    let comma = bytes.firstIndex(of: UInt8(ascii: ","))
    guard let after = MessageID(streamBytes: bytes[..<(comma ?? bytes.endIndex)]) else { return nil }
    self.init(after: after)
    if let comma {
      guard let through = MessageID(streamBytes: bytes[(comma + 1)...]) else { return nil }
      self.through = through
    }
  }
}

// MARK: - Bans

/// The record that an account may not join: a server's ban, or a group's or an account's block.
package struct BanRecord: Sendable, Hashable, Codable {
  /// The account that banned it; nil if a trusted caller did in nobody's name.
  package var by: AccountID?
  /// Milliseconds since 1970.
  package var since: Int64

  package init(by: AccountID?, since: Int64) {
    self.by = by
    self.since = since
  }
}
