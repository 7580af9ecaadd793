import BelfryModel
import BelfryStore

extension Routes {
  private static let path = "/v1/rooms/{roomId}"

  static let rooms: [Route] = roomLifecycle + attendance + stage

  private static let roomLifecycle: [Route] = [
    Route(
      .post, "/v1/rooms", .token, "room create", "Open a room, and be its host",
      body: .json(Rooms.subject.needed, SharedFields.ext), refusals: [.tooMany, .conflict],
      .reply(.created(Rooms.shape), by: Rooms.create)),
    Route(
      .get, "/v1/rooms", .token, "room list", "List the open rooms", query: SharedFields.page,
      .reply(.ok(.page("rooms", of: Rooms.shape, "the newest first")), by: Rooms.directory)),
    Route(
      .put, "/v1/rooms/presence", .token, "room presence",
      "Log in, and give a sign of life in all the rooms one is in", isAudited: false, price: .read,
      refusals: [.conflict], .reply(.ok(Rooms.presence), by: Rooms.heartbeat)),
    Route(.get, path, .token, "room show", "Show a room", .reply(.ok(Rooms.shape), by: Rooms.show)),
    Route(
      .delete, path, .token, "room close", "Close a room: everyone is out",
      .operation { ask throws(Refusal) in CloseRoom(try ask.room, actor: try ask.actor) }),
  ]

  private static let attendance: [Route] = [
    Route(
      .get, path + "/attendees", .token, "room attendees", "List who is in a room", query: SharedFields.page,
      refusals: [.notMember],
      .reply(.ok(Rooms.attendees), by: Rooms.listAttendees)),
    Route(
      .post, path + "/attendees", .token, "room enter", "Enter a room as a listener", refusals: [.tooMany],
      .operation(
        .ok(Rooms.shape), { ask throws(Refusal) in EnterRoom(try ask.room, actor: try ask.actor) }
      ) { operation, room in .json(room.info(operation.space)) }),
    Route(
      .delete, path + "/attendees/{accid}", .token, "room leave",
      "Leave a room, when it is oneself; put an attendee out, as its host",
      refusals: [.notMember, .conflict],
      .reply(.noContent, by: Rooms.removeAttendee)),
    Route(
      .get, path + "/hands", .token, "room hands", "List the raised hands in a room",
      query: SharedFields.page,
      refusals: [.notMember],
      .listing(
        "hands", of: Rooms.hand, "in no particular order", for: { (_: RoomRecord) in .members },
        { ask throws(Refusal) in TableAddress(.room(try ask.room), .hands) }, Rooms.hand)),
    Route(
      .put, path + "/hands/{accid}", .token, "room raise-hand", "Raise one's hand",
      .operation { ask throws(Refusal) in try Rooms.setHand(ask, isRaised: true) }),
    Route(
      .delete, path + "/hands/{accid}", .token, "room lower-hand", "Lower one's hand",
      .operation { ask throws(Refusal) in try Rooms.setHand(ask, isRaised: false) }),
  ]

  private static let stage: [Route] = [
    Route(
      .post, path + "/stage", .token, "room invite-on-stage", "Invite a listener on stage",
      body: .json(SharedFields.accid), refusals: [.tooMany],
      .operation(
        .ok(Rooms.invitation),
        { ask throws(Refusal) in
          InviteToStage(try ask.room, actor: try ask.actor, account: try ask.account)
        }
      ) { _, invitation in
        .json([
          "token": .string(invitation.token.text), "expiresAt": .integer(invitation.expiresAtMilliseconds),
        ])
      }),
    answer("accept", "room accept-stage", "Accept an invitation on stage", isAccepted: true),
    answer("decline", "room decline-stage", "Decline an invitation on stage", isAccepted: false),
    Route(
      .delete, path + "/stage/{accid}", .token, "room step-down",
      "Step down, when it is oneself; set a guest back to listener, as the host",
      .operation { ask throws(Refusal) in
        SetListener(try ask.room, actor: try ask.actor, account: try ask.account)
      }),
    Route(
      .put, path + "/microphones/{accid}", .token, "room microphone",
      "Switch one's own microphone on stage; another's off, as the host", body: .json(Rooms.on.needed),
      .operation { ask throws(Refusal) in
        SetMicrophone(
          try ask.room, actor: try ask.actor, account: try ask.account, isOn: try ask[Rooms.on.needed])
      }),
  ]

  private static func answer(
    _ word: String, _ name: String, _ summary: String, isAccepted: Bool
  ) -> Route {
    Route(
      .post, path + "/stage/{token}/\(word)", .token, name, summary,
      .operation { ask throws(Refusal) in
        AnswerStageInvitation(
          try ask.room, actor: try ask.actor, token: try ask[SharedFields.token], isAccepted: isAccepted)
      })
  }
}
