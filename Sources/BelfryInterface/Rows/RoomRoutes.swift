package import BelfryModel

/// Voice chat rooms: attendees, raised hands, the stage and its microphones.
package enum RoomRoutes {
  package static let all: [Route] = lifecycle + attendance + stage

  private static let room = "/v1/rooms/{roomId}"
  private static let roomId = SharedFields.roomId
  private static let accid = SharedFields.accid

  // MARK: Fields and shapes

  private static let subject = Field(
    "subject", .text(characters: 1...Limits.nameCharacters), "the room's topic")
  private static let on = Field("on", .flag, "whether the microphone is on")

  private static let properties: [Property] = [
    .always("roomId", .id, "its id"), .always("subject", .text, "the room's topic"),
    .always("host", .account, "the host"), .always("createTime", .time, "when it was opened"),
    .sometimes("attendeeCount", .count, "the number of attendees"),
    .sometimes("ext", .text, "application data, set by the host"),
  ]
  private static let shape = Shape.resource("Room", properties)
  private static let attendee = Shape.resource(
    "Attendee",
    [
      .always("accid", .account, "the attendee"),
      .always("role", .choice(MemberRole.self), "host, guest or listener"),
      .always(
        "microphone", .words("Microphone", ["on", "off"]),
        "the microphone: `on` for the host and guests until it is switched off, `off` for listeners"),
      .always("hand", .flag, "whether the hand is raised"),
      .sometimes("nick", .text, "the nick"), .sometimes("avatar", .text, "a picture"),
      .sometimes("ext", .text, "application data that the attendee gave on entering"),
    ])
  private static let attendeeProperties: [Property] = [
    .always("attendees", .list(attendee), "in no particular order"),
    .always(
      "sequence", .id, "the version of the list; it grows whenever somebody enters, leaves or changes roles"),
    .always("cursor", .orNull(.cursor), "the cursor of the next page; null at the end of the list"),
  ]
  private static let attendeePage = Shape.resource("AttendeePage", attendeeProperties)
  private static let entered = Shape.resource("EnteredRoom", properties + attendeeProperties)
  private static let hand = Shape.resource(
    "Hand",
    [
      .always("accid", .account, "the attendee"),
      .always("raisedAt", .time, "when the hand was raised"),
    ])
  private static let invitation = Shape.resource(
    "StageInvitation",
    [
      .always("token", .id, "the id to answer the invitation with"),
      .always("expiresAt", .time, "when the invitation expires"),
    ])
  private static let presenceShape = Shape.resource(
    "Presence",
    [
      .always(
        "user",
        .resource(
          "PresentUser",
          [
            .always("accid", .account, "the account"),
            .sometimes("deviceId", .device, "the device, if the request names one"),
          ]), "the account and the device that are logged in"),
      .always("rooms", .list(.id), "the rooms in which the account is present"),
      .always("heartbeatMilliseconds", .count, "the milliseconds until the next heartbeat is due"),
      .always(
        "absenceMilliseconds", .count,
        "after this many milliseconds without a heartbeat the account leaves all its rooms"),
    ])
}

// MARK: - Rooms

extension RoomRoutes {
  private static let lifecycle = [
    create.route, list.route, presence.route, show.route, update.route, close.route,
  ]

  package static let create = endpoint(
    .post, "/v1/rooms", .token, "room create", "Open a room as its host",
    body: subject.needed, SharedFields.ext, SharedFields.nick, SharedFields.avatar,
    refusals: [.tooMany, .conflict], answers: .created(shape),
    options: RouteOptions(done: "opened the room", example: ["subject": "Practice"]))
  package static let list = endpoint(
    .get, "/v1/rooms", .token, "room list", "List the open rooms",
    query: SharedFields.limit, SharedFields.cursor,
    answers: .ok(.page("rooms", of: shape, "newest first")))
  package static let presence = endpoint(
    .put, "/v1/rooms/presence", .token, "room presence",
    "Log in, and send a heartbeat for all the account's rooms", refusals: [.conflict],
    answers: .ok(presenceShape), options: RouteOptions(done: "logged in", isAudited: false, price: .read))
  package static let show = endpoint(
    .get, room, .token, "room show", "Show a room", path: roomId, answers: .ok(shape))
  package static let update = endpoint(
    .patch, room, .token, "room update", "Change a room's topic or application data (its host only)",
    path: roomId,
    body: subject, SharedFields.ext, operation: UpdateRoom.self, answers: .ok(shape),
    options: RouteOptions(done: "changed the room", example: ["subject": "Practice"]))
  package static let close = endpoint(
    .delete, room, .token, "room close", "Delete a room for good", path: roomId,
    operation: CloseRoom.self,
    options: RouteOptions(
      command: "room delete", otherCommands: ["room close"], done: "deleted the room",
      question: "Delete for good"))
}

// MARK: - Who is inside

extension RoomRoutes {
  private static let attendance = [
    attendees.route, enter.route, leave.route, hands.route, raiseHand.route, lowerHand.route,
  ]

  package static let attendees = endpoint(
    .get, room + "/attendees", .token, "room attendees", "List a room's attendees", path: roomId,
    query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember], answers: .ok(attendeePage),
    options: RouteOptions(
      command: "room members", otherCommands: ["room attendees"],
      columns: ["accid", "role", "microphone", "hand", "nick"]))
  package static let enter = endpoint(
    .post, room + "/attendees", .token, "room enter", "Enter a room as a listener", path: roomId,
    body: SharedFields.nick, SharedFields.avatar, SharedFields.ext, bodyMayBeLeftOut: true,
    refusals: [.tooMany, .notMember, .conflict], answers: .ok(entered),
    options: RouteOptions(done: "entered the room"))
  package static let leave = endpoint(
    .delete, room + "/attendees/{accid}", .token, "room leave",
    "Remove an attendee from a room (its host only), or leave it", path: roomId, accid,
    refusals: [.notMember, .conflict],
    options: RouteOptions(
      command: "room remove-member", done: "removed the attendee", question: "Remove the attendee",
      ownCommand: .leaving(
        "room leave", "Leave a room; if its host leaves, the room is deleted", done: "left the room",
        question: "Leave; if the host leaves, the room is deleted")))
  package static let hands = endpoint(
    .get, room + "/hands", .token, "room hands", "List the raised hands in a room", path: roomId,
    query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember],
    answers: .ok(.page("hands", of: hand, "in no particular order")))
  package static let raiseHand = endpoint(
    .put, room + "/hands/{accid}", .token, "room raise-hand", "Raise your own hand", path: roomId, accid,
    operation: SetHand.self,
    options: RouteOptions(done: "raised the hand", accountMayBeLeftOut: true, accountIsCaller: true))
  package static let lowerHand = endpoint(
    .delete, room + "/hands/{accid}", .token, "room lower-hand",
    "Lower your own hand; the host can also lower another attendee's", path: roomId, accid,
    operation: SetHand.self, options: RouteOptions(done: "lowered the hand", accountMayBeLeftOut: true))
}

// MARK: - The stage

extension RoomRoutes {
  private static let stage = [
    inviteOnStage.route, acceptStage.route, declineStage.route, stepDown.route, microphone.route,
  ]

  package static let inviteOnStage = endpoint(
    .post, room + "/stage", .token, "room invite-on-stage", "Invite a listener to the stage", path: roomId,
    body: accid, operation: InviteToStage.self, refusals: [.tooMany], answers: .ok(invitation),
    options: RouteOptions(done: "invited to the stage"))
  package static let acceptStage = endpoint(
    .post, room + "/stage/{token}/accept", .token, "room accept-stage", "Accept an invitation to the stage",
    path: roomId, SharedFields.token, operation: AnswerStageInvitation.self,
    options: RouteOptions(done: "accepted the invitation"))
  package static let declineStage = endpoint(
    .post, room + "/stage/{token}/decline", .token, "room decline-stage",
    "Decline an invitation to the stage",
    path: roomId, SharedFields.token, operation: AnswerStageInvitation.self,
    options: RouteOptions(done: "declined the invitation"))
  package static let stepDown = endpoint(
    .delete, room + "/stage/{accid}", .token, "room step-down",
    "Leave the stage; the host can also make a guest leave it", path: roomId, accid,
    operation: SetListener.self, options: RouteOptions(done: "left the stage", accountMayBeLeftOut: true))
  package static let microphone = endpoint(
    .put, room + "/microphones/{accid}", .token, "room microphone",
    "Switch your own microphone on or off; the host can also switch off another attendee's", path: roomId,
    accid,
    body: on.needed, operation: SetMicrophone.self,
    options: RouteOptions(
      done: "switched the microphone {on}", accountMayBeLeftOut: true, example: ["on": "false"]))
}
