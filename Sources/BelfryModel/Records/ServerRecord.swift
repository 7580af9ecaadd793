/// A server's settings.
package struct ServerRecord: AdministeredRecord {
  package static let kind = SpaceKind.server

  package var name: String
  package var icon: String?
  package var ext: String?
  package var owner: AccountID
  package var admins: [AccountID]
  package var createdAt: Int64
  package var inviteMode: InviteMode
  package var applyMode: ApplyMode
  /// True if members who are no admins may invite, too.
  package var membersMayInvite: Bool
  /// True if admins may create and remove channels, too.
  package var adminsMayCreateChannels: Bool
  package var defaultChannelId: EntityID
  /// The members who may send to everybody in the server; nil: all.
  package var sendMode: SendMode?
  /// The nicks under which users send; nil: any that they give.
  package var nicks: NickRule?
  package var removedAt: Int64?

  package init(name: String, owner: AccountID, createdAt: Int64, defaultChannelId: EntityID) {
    self.name = name
    self.owner = owner
    self.createdAt = createdAt
    self.defaultChannelId = defaultChannelId
    admins = []
    inviteMode = .needsConsent
    applyMode = .joinsAtOnce
    membersMayInvite = false
    adminsMayCreateChannels = false
  }

  func checkLimits() throws(Refusal) {
    if name.isEmpty { throw .invalid("name", "must not be empty") }
    try NotificationContent.check(name, "name", characters: Limits.nameCharacters)
    try NotificationContent.check(icon, "icon", bytes: 0...Limits.iconBytes)
    try NotificationContent.check(ext, "ext", bytes: 0...Limits.extBytes)
  }

  package func info(_ space: SpaceID) -> JSONValue {
    var info: JSONObject = [
      "serverId": .string(space.name), "name": .string(name), "owner": .string(owner.text),
      "createTime": .integer(createdAt), "inviteMode": .integer(Int64(inviteMode.rawValue)),
      "applyMode": .integer(Int64(applyMode.rawValue)), "membersMayInvite": .bool(membersMayInvite),
      "adminsMayCreateChannels": .bool(adminsMayCreateChannels),
      "defaultChannelId": .string(defaultChannelId.text),
      "sendMode": .string((sendMode ?? .everybody).rawValue),
      "nicks": .string((nicks ?? .any).rawValue),
    ]
    if let icon { info["icon"] = .string(icon) }
    if let ext { info["ext"] = .string(ext) }
    return .object(info)
  }
}

extension ServerRecord {
  /// Checks whether a member may send anything to the server or to a channel of it. Trusted callers are not checked.
  /// - Throws: `muted`.
  package func requireMaySend(_ member: MemberRecord, nowMilliseconds: Int64) throws(Refusal) {
    guard let until = member.rights.mutedUntilMilliseconds, until > nowMilliseconds else { return }
    throw .muted(in: "this server", untilMilliseconds: until)
  }

  /// - Throws: `forbidden` for a plain member, if only the owner and the admins send to everybody.
  package func requireMayBroadcast(_ member: MemberRecord) throws(Refusal) {
    guard sendMode == .admins, member.role == .member else { return }
    throw Refusal(.forbidden, "only the owner and the admins may send to everybody in this server")
  }

  /// - Throws: `forbidden` for another nick than that of the profile, if the server takes no other.
  package func requireMayUse(nick: String, _ member: MemberRecord) throws(Refusal) {
    guard nicks == .profile, member.nick != nick else { return }
    throw Refusal(
      .forbidden, "this server allows only the nick of your profile; leave fromNick out", field: "fromNick")
  }
}

/// Says which members may send to everybody in a server. Sends to its channels and to named members are not concerned.
///
/// ```swift
/// let mode = SendMode(rawValue: "admins")
/// ```
public enum SendMode: String, Sendable, Codable, CaseIterable {
  /// Every member.
  case everybody
  /// The owner and the admins.
  case admins
}

/// Says under which nicks users send in a server. Trusted callers send under any nick.
///
/// ```swift
/// let rule = NickRule(rawValue: "profile")
/// ```
public enum NickRule: String, Sendable, Codable, CaseIterable {
  /// Any nick that the sender gives.
  case any
  /// Only the nick of the sender's profile in the server.
  case profile
}

/// Says if an account that is invited into a server must consent.
///
/// ```swift
/// let settings = ServerSettings(name: "Bell ringers", inviteMode: .needsConsent)
/// ```
public enum InviteMode: Int, Sendable, Codable, CaseIterable {
  /// The account becomes a member when it accepts the invitation.
  case needsConsent = 0
  /// The account becomes a member at once.
  case joinsAtOnce = 1
}

/// Says if an application to join a server needs approval.
///
/// ```swift
/// let settings = ServerSettings(name: "Bell ringers", applyMode: .needsApproval)
/// ```
public enum ApplyMode: Int, Sendable, Codable, CaseIterable {
  /// The applicant becomes a member at once.
  case joinsAtOnce = 0
  /// The applicant becomes a member when the owner or an admin accepts the application.
  case needsApproval = 1
}

/// A channel of a server.
package struct ChannelRecord: Sendable, Hashable, Codable {
  package enum Kind: String, Sendable, Codable, CaseIterable {
    case `public`, `private`
  }

  /// The members of the channel: every member of the server, or the channel's own roster.
  package enum Membership: String, Sendable, Codable, CaseIterable {
    case everyone, roster
  }

  package var name: String
  package var description: String?
  package var ext: String?
  package var type: Kind
  package var membership: Membership
  /// The most members of its roster; nil: as many as the server has. A channel of everyone's has no such
  /// bound.
  package var maxMembers: Int?
  package var createdAt: Int64

  package init(name: String, type: Kind, membership: Membership, createdAt: Int64) {
    self.name = name
    self.type = type
    self.membership = membership
    self.createdAt = createdAt
  }

  package var hasRoster: Bool { membership == .roster }

  /// - Throws: `invalidField` for a channel without a roster, and beyond what a server has.
  mutating func setMaxMembers(_ most: Int?, _ limits: Limits) throws(Refusal) {
    guard let most else { return }
    guard hasRoster else {
      throw .invalid("maxMembers", "must be left out: everyone in the server is in this channel")
    }
    guard (1...limits.membersPerServer).contains(most) else {
      throw .invalid("maxMembers", "must be 1 to \(limits.membersPerServer)")
    }
    maxMembers = most
  }
}

extension Refusal {
  /// The refusal if the channel does not exist, or if the caller must not know that it does.
  package static func noChannel(_ id: EntityID, in space: SpaceID) -> Refusal {
    Refusal(.notFound, "there is no channel \(id) in server \(space.name)", field: "channelId")
  }
}

extension ChannelRecord {
  /// `channelInfo` of the attachments, and the channel as HTTP shows it.
  package func info(_ id: EntityID, of space: SpaceID) -> JSONValue {
    var info: JSONObject = [
      "channelId": .string(id.text), "serverId": .string(space.name), "name": .string(name),
      "type": .string(type.rawValue), "membership": .string(membership.rawValue),
      "createTime": .integer(createdAt),
    ]
    if let description { info["description"] = .string(description) }
    if let ext { info["ext"] = .string(ext) }
    if let maxMembers { info["maxMembers"] = .integer(Int64(maxMembers)) }
    return .object(info)
  }

  package func scene(_ id: EntityID) -> NotificationType.ChannelScene {
    NotificationType.ChannelScene(id, hasRoster: hasRoster, isPrivate: type == .private)
  }
}
