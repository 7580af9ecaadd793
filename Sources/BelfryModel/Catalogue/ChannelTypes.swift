extension Catalogue {
  package static let channelCreate = NotificationType(
    15, "channelCreate", in: .channel, attach: ["channelInfo"], others: .channel, operator: .leftOutOfRosters)
  package static let channelRemove = NotificationType(
    16, "channelRemove", in: .channel, others: .channel, operator: .leftOut)
  package static let channelUpdate = NotificationType(
    17, "channelUpdate", in: .channel, attach: ["channelInfo"], others: .channel, operator: .leftOut)
  package static let channelListUpdateMember = NotificationType(
    19, "channelListUpdateMember", in: .channel, attach: ["channelId", "type", "opeType", "accids"],
    parties: "the accounts that `accids` names", others: .administrators, critical: .parties)
  package static let channelVisibilityUpdate = NotificationType(
    31, "channelVisibilityUpdate", in: .channel, attach: ["event"],
    parties: "the account that can now see, or no longer see, the channel")
  package static let channelMemberCreated = NotificationType(
    201, "channelMemberCreated", in: .channel, attach: ["channelInfo"], parties: "the initial members")
  package static let channelInvitation = NotificationType(
    202, "channelInvitation", in: .channel, attach: ["requestId", "channelInfo", "postscript"],
    parties: "the invitee")
  package static let channelInvitationAccepted = NotificationType(
    203, "channelInvitationAccepted", in: .channel, attach: ["requestId", "accid"], parties: "each inviter")
  package static let channelInvitationDeclined = NotificationType(
    204, "channelInvitationDeclined", in: .channel, attach: ["requestId", "accid", "postscript"],
    parties: "each inviter")
  package static let channelMemberJoined = NotificationType(
    205, "channelMemberJoined", in: .channel, attach: ["accids"], others: .channel, except: "the new member")
  package static let channelMemberLeft = NotificationType(
    206, "channelMemberLeft", in: .channel, attach: ["accids"], others: .channel,
    except: "the account that left or was removed")
  package static let channelMemberRemoved = NotificationType(
    207, "channelMemberRemoved", in: .channel, attach: ["accids"], parties: "the removed accounts",
    critical: .everybody)
  package static let channelMemberMuteChanged = NotificationType(
    208, "channelMemberMuteChanged", in: .channel, or: .server, attach: ["muted", "accids", "expiresAt"],
    parties: "the accounts that a channel, or the whole server, mutes or no longer mutes",
    others: .administrators, operator: .leftOut, critical: .parties)

  static let channels: [NotificationType] = [
    channelCreate, channelRemove, channelUpdate, channelListUpdateMember, channelVisibilityUpdate,
    channelMemberCreated, channelInvitation, channelInvitationAccepted, channelInvitationDeclined,
    channelMemberJoined, channelMemberLeft, channelMemberRemoved, channelMemberMuteChanged,
  ]
}
