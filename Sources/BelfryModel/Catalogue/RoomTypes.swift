// The comings and goings of a room are its momentary state: an account that has left is not shown them any more.
extension Catalogue {
  package static let roomAttendeeJoined = NotificationType(
    401, "roomAttendeeJoined", in: .room, attach: ["accid", "nick", "avatar", "ext"], others: .everyMember,
    lasting: .whileInside)
  package static let roomAttendeeLeft = NotificationType(
    402, "roomAttendeeLeft", in: .room, attach: ["accid", "reason"],
    parties: "the account that left, although it is no longer inside",
    others: .everyMember, lasting: .whileInside)
  package static let roomHandChanged = NotificationType(
    403, "roomHandChanged", in: .room, attach: ["accid", "raised"], others: .everyMember,
    lasting: .whileInside)
  package static let roomStageInvitation = NotificationType(
    404, "roomStageInvitation", in: .room, attach: ["token", "expiresAt", "roomInfo"],
    parties: "the invited listener")
  package static let roomStageInvitationAnswered = NotificationType(
    405, "roomStageInvitationAnswered", in: .room, attach: ["accid", "accepted"], parties: "the host",
    lasting: .whileInside)
  package static let roomRoleChanged = NotificationType(
    406, "roomRoleChanged", in: .room, attach: ["accid", "role"], others: .everyMember,
    lasting: .whileInside)
  package static let roomMicrophoneChanged = NotificationType(
    407, "roomMicrophoneChanged", in: .room, attach: ["accid", "on", "operator"], others: .everyMember,
    lasting: .whileInside)
  package static let roomClosed = NotificationType(
    408, "roomClosed", in: .room, attach: ["roomInfo"], others: .everyMember, critical: .everybody)
  package static let roomUpdated = NotificationType(
    409, "roomUpdated", in: .room, attach: ["roomInfo"], others: .everyMember,
    lasting: .whileInside)

  static let rooms: [NotificationType] = [
    roomAttendeeJoined, roomAttendeeLeft, roomHandChanged, roomStageInvitation, roomStageInvitationAnswered,
    roomRoleChanged, roomMicrophoneChanged, roomClosed, roomUpdated,
  ]
}
