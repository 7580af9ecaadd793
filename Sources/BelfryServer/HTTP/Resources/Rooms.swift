import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

enum Rooms {
  static let handlers: [Handler] = [
    RoomRoutes.create.handled(by: create),
    RoomRoutes.list.handled(by: directory),
    RoomRoutes.presence.handled(by: heartbeat),
    RoomRoutes.show.handled(by: show),
    RoomRoutes.close.carriedOut { actor, room in CloseRoom(room, actor: actor) },

    RoomRoutes.attendees.handled(by: attendees),
    RoomRoutes.enter.carriedOut(by: { actor, room in EnterRoom(room, actor: actor) }) { operation, room in
      .json(room.info(operation.space))
    },
    RoomRoutes.leave.handled(by: removeAttendee),
    RoomRoutes.hands.handled { request, services, room, limit, cursor throws(Refusal) in
      try await services.listing(
        "hands", of: .hands, in: .room(room), limit, after: cursor, for: members, request, hand)
    },
    RoomRoutes.raiseHand.carriedOut { actor, room, account throws(Refusal) in
      try setHand(of: account, in: room, actor, isRaised: true)
    },
    RoomRoutes.lowerHand.carriedOut { actor, room, account throws(Refusal) in
      try setHand(of: account, in: room, actor, isRaised: false)
    },

    RoomRoutes.inviteOnStage.carriedOut(by: { actor, room, account in
      InviteToStage(room, actor: actor, account: account)
    }) { _, invitation in
      .json([
        "token": .string(invitation.token.text), "expiresAt": .integer(invitation.expiresAtMilliseconds),
      ])
    },
    RoomRoutes.acceptStage.carriedOut { actor, room, token in
      AnswerStageInvitation(room, actor: actor, token: token, isAccepted: true)
    },
    RoomRoutes.declineStage.carriedOut { actor, room, token in
      AnswerStageInvitation(room, actor: actor, token: token, isAccepted: false)
    },
    RoomRoutes.stepDown.carriedOut { actor, room, account in
      SetListener(room, actor: actor, account: account)
    },
    RoomRoutes.microphone.carriedOut { actor, room, account, isOn in
      SetMicrophone(room, actor: actor, account: account, isOn: isOn)
    },
  ]

  private static func members(_: RoomRecord) -> Access { .members }

  private static func create(
    _ request: Request, _ services: LoopServices, subject: String, ext: String?
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    var operation = CreateRoom(
      id: .random(), host: try caller.account(), actor: caller.actor, subject: subject)
    operation.ext = ext
    let room = try await services.runner.run(operation).output
    return .json(room.info(operation.space).with(["attendeeCount": 1]), status: 201)
      .located(at: "/v1/rooms/\(operation.space.name)")
  }

  /// Open rooms, the newest first. One that was closed is listed until its log has drained; it is not shown.
  private static func directory(
    _ request: Request, _ services: LoopServices, limit: Int, cursor: PageCursor?
  ) async throws(Refusal) -> HTTPResponse {
    let (page, records) = try await reading { () async throws(StoreError) in
      let page = try await services.store.page(of: .rooms, after: cursor, limit: limit)
      return (page, try await services.store.records(page.spaces.map { .settings($0) }))
    }
    var rooms: [JSONValue] = []
    for space in page.spaces {
      guard let room = try records.json(RoomRecord.self, .settings(space)), room.removedAt == nil else {
        continue
      }
      rooms.append(room.info(space))
    }
    return .page("rooms", rooms, cursor: page.next?.text)
  }

  private static func show(
    _ request: Request, _ services: LoopServices, room: EntityID
  ) async throws(Refusal) -> HTTPResponse {
    let view = try await SpaceView<RoomRecord>(
      request, of: .room(room), for: { _ in .anyAccount }, services)
    let count = try await services.count(.roster, of: view.space)
    return .json(view.settings.info(view.space).with(["attendeeCount": .integer(Int64(count))]))
  }

  private static func attendees(
    _ request: Request, _ services: LoopServices, room: EntityID, limit: Int, cursor: PageCursor?
  ) async throws(Refusal) -> HTTPResponse {
    let space = SpaceID.room(room)
    let version = RecordAddress.attendeeList(of: space)
    let view = try await SpaceView<RoomRecord>(
      request, of: space, for: members, reading: [version], services)
    let page = try await services.page(of: .roster, in: space, limit, after: cursor)
    let sequence = view.records.text(version).flatMap { MessageID(streamForm: $0) } ?? .zero
    var answer = JSONText(capacity: 128 * (page.records.count + 1))
    answer.field("attendees", .array(page.records.compactMap { Groups.member($0.field, $0.text, 0) }))
    answer.field("sequence", sequence.text)
    answer.field("cursor", page.next.map { .string($0.text) } ?? .null)
    return .json(answer)
  }

  private static func hand(_ field: String, _ text: String, _: Int64) -> JSONValue? {
    Int64(text).map { ["accid": .string(field), "raisedAt": .integer($0)] }
  }

  /// Logging in, and every sign of life after it: in all the rooms that the account is in.
  private static func heartbeat(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    let account = try caller.account()
    let index = try await reading { () async throws(StoreError) in
      try await services.store.index(of: account)
    }
    var rooms: [JSONValue] = []
    let mine = index.filter { $0.isMember && $0.space.kind == .room }
    for entry in mine.sorted(by: { $0.space.key < $1.space.key }) {
      guard let id = EntityID(entry.space.name) else { continue }
      do {
        _ = try await services.runner.run(Heartbeat(id, actor: caller.actor))
        rooms.append(.string(id.text))
      } catch  where error.code == .notFound || error.code == .notMember {
        // Closed or left since: the index learns of it a moment later.
      }
    }
    let limits = services.runner.limits
    var answer = JSONText()
    answer.field("rooms", .array(rooms))
    answer.field("heartbeatMilliseconds", limits.heartbeatMilliseconds)
    answer.field("absenceMilliseconds", limits.absenceMilliseconds)
    return .json(answer)
  }

  /// Putting oneself out is leaving; anybody else, removing.
  private static func removeAttendee(
    _ request: Request, _ services: LoopServices, room: EntityID, account: AccountID
  ) async throws(Refusal) -> HTTPResponse {
    let actor = try request.actor
    if account == actor.account {
      _ = try await services.runner.run(LeaveRoom(room, actor: actor))
    } else {
      _ = try await services.runner.run(RemoveAttendees(room, actor: actor, accounts: [account]))
    }
    return .noContent
  }

  /// A hand is one's own: the path names whose, so that nobody raises another's by mistake.
  private static func setHand(
    of account: AccountID, in room: EntityID, _ actor: Actor, isRaised: Bool
  ) throws(Refusal) -> SetHand {
    guard actor.account == account else {
      throw Refusal(.forbidden, "a hand is raised and lowered by whose it is", field: "accid")
    }
    return SetHand(room, actor: actor, isRaised: isRaised)
  }
}
