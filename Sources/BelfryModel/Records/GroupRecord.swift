/// A group's settings.
package struct GroupRecord: AdministeredRecord {
  package static let kind = SpaceKind.group

  package var name: String
  package var description: String?
  package var ext: String?
  /// Fixed when the group is created: members of a private group rely on it.
  package var style: GroupStyle
  package var owner: AccountID
  package var admins: [AccountID]
  package var createdAt: Int64
  /// False: an invited account joins at once, in spite of its own options.
  package var inviteNeedConfirm: Bool
  package var maxMembers: Int
  /// Only the owner, the admins and the allow-listed may send.
  package var isAllMuted: Bool
  /// Set by a trusted caller: nobody sends to it or joins it.
  package var isDisabled: Bool
  package var announcement: String?
  package var removedAt: Int64?

  package init(name: String, style: GroupStyle, owner: AccountID, createdAt: Int64, maxMembers: Int) {
    self.name = name
    self.style = style
    self.owner = owner
    self.createdAt = createdAt
    self.maxMembers = maxMembers
    admins = []
    inviteNeedConfirm = true
    isAllMuted = false
    isDisabled = false
  }

  package var isHiddenFromStrangers: Bool { !style.isPublic }

  /// `groupInfo` of the attachments. The announcement is not part of it: invitations and the directory of
  /// public groups show this to people who are no members.
  package func info(_ space: SpaceID) -> JSONValue {
    var info: JSONObject = [
      "groupId": .string(space.name), "name": .string(name), "owner": .string(owner.text),
      "style": .string(style.rawValue), "createTime": .integer(createdAt),
      "inviteNeedConfirm": .bool(inviteNeedConfirm), "maxMembers": .integer(Int64(maxMembers)),
      "isAllMuted": .bool(isAllMuted), "isDisabled": .bool(isDisabled),
    ]
    if let description { info["description"] = .string(description) }
    if let ext { info["ext"] = .string(ext) }
    return .object(info)
  }
}

/// Says how accounts join a group and who can find it.
///
/// ```swift
/// if GroupStyle(rawValue: "publicOpen")?.isPublic == true { print("everybody can find it") }
/// ```
public enum GroupStyle: String, Sendable, Codable, CaseIterable {
  /// Nobody can find it. The owner and the admins invite.
  case privateOwnerInvites
  /// Nobody can find it. Every member invites.
  case privateMembersInvite
  /// Everybody can find it. The owner or an admin lets applicants in.
  case publicApproval
  /// Everybody can find it. Applicants are in at once.
  case publicOpen

  /// True if everybody can find the group.
  public var isPublic: Bool { self == .publicApproval || self == .publicOpen }
}

extension GroupRecord {
  /// - Throws: `disabled`.
  package func requireEnabled() throws(Refusal) {
    guard isDisabled else { return }
    throw Refusal(.disabled, "the group is disabled", field: "groupId")
  }

  /// Checks whether a member may send to the group now. The allow list is an exception from muting all, not from a
  /// member's own mute. Trusted callers may always send and are not checked.
  /// - Throws: `muted`.
  package func requireMaySend(_ member: MemberRecord, nowMilliseconds: Int64) throws(Refusal) {
    if let until = member.rights.mutedUntilMilliseconds,
      member.rights.isMuted(nowMilliseconds: nowMilliseconds)
    {
      throw .muted(in: "this group", untilMilliseconds: until)
    }
    guard isAllMuted, member.role == .member, !member.rights.isAllowListed else { return }
    throw Refusal(
      .muted,
      "everybody is muted in this group; only the owner, the admins and the accounts on the allow list may send"
    )
  }
}
