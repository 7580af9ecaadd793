extension Catalogue {
  package static let serverMemberInvite = NotificationType(
    1, "serverMemberInvite", in: .server, attach: ["requestId", "serverInfo", "postscript"],
    parties: "each invitee", updatedBy: .receivers)
  package static let serverMemberInviteReject = NotificationType(
    2, "serverMemberInviteReject", in: .server, attach: ["requestId", "postscript"],
    parties: "each inviter", updatedBy: .receivers)
  package static let serverMemberApply = NotificationType(
    3, "serverMemberApply", in: .server, attach: ["requestId", "postscript"], others: .administrators,
    updatedBy: .receivers)
  package static let serverMemberApplyReject = NotificationType(
    4, "serverMemberApplyReject", in: .server, attach: ["requestId", "postscript"],
    parties: "the applicant", updatedBy: .receivers)
  package static let serverCreate = NotificationType(
    5, "serverCreate", in: .server, attach: ["serverInfo"], parties: "the creator")
  package static let serverRemove = NotificationType(
    6, "serverRemove", in: .server, others: .everyMember, critical: .everybody)
  package static let serverUpdate = NotificationType(
    7, "serverUpdate", in: .server, attach: ["serverInfo"], others: .members)
  package static let serverMemberInviteDone = NotificationType(
    8, "serverMemberInviteDone", in: .server, attach: ["serverInfo", "invitedAccids", "requestId"],
    parties: "the added accounts", others: .members)
  package static let serverMemberInviteAccept = NotificationType(
    9, "serverMemberInviteAccept", in: .server, attach: ["serverInfo", "inviteAccid", "requestId"],
    parties: "each inviter and the invitee", others: .members)
  package static let serverMemberApplyDone = NotificationType(
    10, "serverMemberApplyDone", in: .server, attach: ["serverInfo", "requestId"],
    parties: "the account that joined",
    others: .members)
  package static let serverMemberApplyAccept = NotificationType(
    11, "serverMemberApplyAccept", in: .server, attach: ["serverInfo", "applyAccid", "requestId"],
    parties: "the applicant", others: .members)
  package static let serverMemberKickDone = NotificationType(
    12, "serverMemberKickDone", in: .server, attach: ["serverInfo", "kickedAccids"],
    parties: "the removed members",
    others: .members, critical: .parties)
  package static let serverMemberLeaveDone = NotificationType(
    13, "serverMemberLeaveDone", in: .server, attach: ["serverInfo"], parties: "the account that left",
    others: .members)
  package static let serverMemberUpdate = NotificationType(
    14, "serverMemberUpdate", in: .server, attach: ["memberInfo"], parties: "the updated member",
    others: .members)
  package static let serverEnterLeave = NotificationType(
    32, "serverEnterLeave", in: .server, attach: ["event"],
    parties: "the account that joined or left, on all its devices")
  package static let serverMemberJoinByInviteCode = NotificationType(
    33, "serverMemberJoinByInviteCode", in: .server, attach: ["serverInfo", "requestId", "inviteCode"],
    parties: "the account that joined", others: .members)

  static let servers: [NotificationType] = [
    serverMemberInvite, serverMemberInviteReject, serverMemberApply, serverMemberApplyReject, serverCreate,
    serverRemove, serverUpdate, serverMemberInviteDone, serverMemberInviteAccept, serverMemberApplyDone,
    serverMemberApplyAccept, serverMemberKickDone, serverMemberLeaveDone, serverMemberUpdate,
    serverEnterLeave, serverMemberJoinByInviteCode,
  ]
}
