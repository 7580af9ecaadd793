extension Catalogue {
  package static let groupInvitation = NotificationType(
    301, "groupInvitation", in: .group, attach: ["requestId", "groupInfo", "inviter", "message"],
    parties: "the invitee")
  package static let groupInvitationAccepted = NotificationType(
    302, "groupInvitationAccepted", in: .group, attach: ["accid", "requestId"], parties: "each inviter")
  package static let groupInvitationDeclined = NotificationType(
    303, "groupInvitationDeclined", in: .group, attach: ["accid", "requestId", "reason"],
    parties: "each inviter")
  package static let groupJoined = NotificationType(
    304, "groupJoined", in: .group, attach: ["groupInfo", "inviter", "message"], parties: "the new member")
  package static let groupJoinRequest = NotificationType(
    305, "groupJoinRequest", in: .group, attach: ["requestId", "accid", "reason"], others: .administrators)
  package static let groupJoinRequestApproved = NotificationType(
    306, "groupJoinRequestApproved", in: .group, attach: ["groupInfo", "accid", "requestId"],
    parties: "the applicant", others: .administrators, operator: .leftOut)
  package static let groupJoinRequestDeclined = NotificationType(
    307, "groupJoinRequestDeclined", in: .group, attach: ["requestId", "reason", "decliner", "applicant"],
    parties: "the applicant", others: .administrators, operator: .leftOut)
  package static let groupMemberJoined = NotificationType(
    308, "groupMemberJoined", in: .group, attach: ["accids"], others: .everyMember, except: "the new member")
  package static let groupMemberLeft = NotificationType(
    309, "groupMemberLeft", in: .group, attach: ["accids"], others: .everyMember,
    except: "the accounts that left or were removed")
  package static let groupLeft = NotificationType(
    310, "groupLeft", in: .group, attach: ["reason", "groupInfo"], parties: "the accounts that were removed",
    critical: .everybody)
  package static let groupMuteAdded = NotificationType(
    311, "groupMuteAdded", in: .group, attach: ["accids", "expiresAt"],
    parties: "the accounts that `accids` names", others: .administrators, operator: .leftOut,
    critical: .parties)
  package static let groupMuteRemoved = NotificationType(
    312, "groupMuteRemoved", in: .group, attach: ["accids"], parties: "the accounts that `accids` names",
    others: .administrators, operator: .leftOut)
  package static let groupAllowListAdded = NotificationType(
    313, "groupAllowListAdded", in: .group, attach: ["accids"], parties: "the accounts that `accids` names",
    others: .administrators, operator: .leftOut)
  package static let groupAllowListRemoved = NotificationType(
    314, "groupAllowListRemoved", in: .group, attach: ["accids"], parties: "the accounts that `accids` names",
    others: .administrators, operator: .leftOut)
  package static let groupAllMuteChanged = NotificationType(
    315, "groupAllMuteChanged", in: .group, attach: ["on"], others: .everyMember, operator: .leftOut)
  package static let groupAdminAdded = NotificationType(
    316, "groupAdminAdded", in: .group, attach: ["accid"], parties: "the new admin",
    others: .administrators)
  package static let groupAdminRemoved = NotificationType(
    317, "groupAdminRemoved", in: .group, attach: ["accid"], parties: "the former admin",
    others: .administrators, operator: .leftOut)
  package static let groupOwnerChanged = NotificationType(
    318, "groupOwnerChanged", in: .group, attach: ["oldOwner", "newOwner"], others: .everyMember)
  package static let groupAnnouncementUpdated = NotificationType(
    319, "groupAnnouncementUpdated", in: .group, attach: ["announcement"], others: .everyMember)
  package static let groupFileAdded = NotificationType(
    320, "groupFileAdded", in: .group, attach: ["file"], others: .everyMember)
  package static let groupFileRemoved = NotificationType(
    321, "groupFileRemoved", in: .group, attach: ["file"], others: .everyMember)
  package static let groupUpdated = NotificationType(
    322, "groupUpdated", in: .group, attach: ["groupInfo"], others: .everyMember)
  package static let groupMemberAttributesChanged = NotificationType(
    323, "groupMemberAttributesChanged", in: .group, attach: ["accid", "attributes", "operator"],
    others: .everyMember, operator: .leftOut)

  static let groups: [NotificationType] = [
    groupInvitation, groupInvitationAccepted, groupInvitationDeclined, groupJoined, groupJoinRequest,
    groupJoinRequestApproved, groupJoinRequestDeclined, groupMemberJoined, groupMemberLeft, groupLeft,
    groupMuteAdded, groupMuteRemoved, groupAllowListAdded, groupAllowListRemoved, groupAllMuteChanged,
    groupAdminAdded, groupAdminRemoved, groupOwnerChanged, groupAnnouncementUpdated, groupFileAdded,
    groupFileRemoved, groupUpdated, groupMemberAttributesChanged,
  ]
}
