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
    RoomRoutes.update.handled(carryingOut: UpdateRoom.self, by: update),
    RoomRoutes.close.carriedOut { actor, room in CloseRoom(room, actor: actor) },

    RoomRoutes.attendees.handled(by: attendees),
    RoomRoutes.enter.handled(by: enter),
    RoomRoutes.leave.handled(by: removeAttendee),
    RoomRoutes.hands.handled { request, services, room, limit, cursor throws(Refusal) in
      try await services.listing(
        "hands", of: .hands, in: .room(room), limit, after: cursor, for: members, request, hand)
    },
    RoomRoutes.raiseHand.carriedOut { actor, room, account throws(Refusal) in
      // If the path named another account, the request would raise the hand of that account by mistake.
      guard actor.account == account else {
        throw Refusal(.forbidden, "only the attendee can raise their own hand", field: "accid")
      }
      return SetHand(room, actor: actor, isRaised: true)
    },
    RoomRoutes.lowerHand.carriedOut { actor, room, account in
      SetHand(room, actor: actor, of: account, isRaised: false)
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
    _ request: Request, _ services: LoopServices, subject: String, ext: String?, nick: String?,
    avatar: String?
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    var operation = CreateRoom(
      id: .random(), host: try caller.account(), actor: caller.actor, subject: subject)
    operation.ext = ext
    operation.hostInfo = ProfileRecord(nick: nick?.unlessEmpty, avatar: avatar?.unlessEmpty)
    let room = try await services.run(operation, of: request).output
    return .json(room.info(operation.space).with(["attendeeCount": 1]), status: 201)
      .located(at: "/v1/rooms/\(operation.space.name)")
  }

  /// Lists open rooms, the newest first. A closed room stays in the directory until its log has drained. It
  /// is not shown.
  private static func directory(
    _ request: Request, _ services: LoopServices, limit: Int, cursor: PageCursor?
  ) async throws(Refusal) -> HTTPResponse {
    let (page, records, counts) = try await reading { () async throws(StoreError) in
      let page = try await services.store.page(of: .rooms, after: cursor, limit: limit)
      let records = try await services.store.records(page.spaces.map { .settings($0) })
      let counts = try await services.store.counts(page.spaces.map { TableAddress($0, .roster) })
      return (page, records, counts)
    }
    var rooms: [JSONValue] = []
    for (space, count) in zip(page.spaces, counts) {
      guard let room = try records.json(RoomRecord.self, .settings(space)), room.removedAt == nil else {
        continue
      }
      rooms.append(room.info(space).with(["attendeeCount": .integer(Int64(count))]))
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

  private static func update(
    _ request: Request, _ services: LoopServices, room: EntityID, subject: String?, ext: String?
  ) async throws(Refusal) -> HTTPResponse {
    let operation = UpdateRoom(room, actor: try request.actor, subject: subject, ext: ext)
    let changed = try await services.run(operation, of: request).output
    let count = try await services.count(.roster, of: operation.space)
    return .json(changed.info(operation.space).with(["attendeeCount": .integer(Int64(count))]))
  }

  /// The room and the first page of its attendees.
  private static func enter(
    _ request: Request, _ services: LoopServices, room: EntityID, nick: String?, avatar: String?,
    ext: String?
  ) async throws(Refusal) -> HTTPResponse {
    let info = ProfileRecord(
      nick: nick?.unlessEmpty, avatar: avatar?.unlessEmpty, ext: ext?.unlessEmpty)
    let operation = EnterRoom(room, actor: try request.actor, info: info)
    let entered = try await services.run(operation, of: request).output
    let version = try await services.records([.attendeeList(of: operation.space)])
    let attendees = try await attendees(
      of: operation.space, Limits.pageMembers, after: nil, version, services)
    return .json(entered.info(operation.space).with(attendees))
  }

  private static func attendees(
    _ request: Request, _ services: LoopServices, room: EntityID, limit: Int, cursor: PageCursor?
  ) async throws(Refusal) -> HTTPResponse {
    let space = SpaceID.room(room)
    let view = try await SpaceView<RoomRecord>(
      request, of: space, for: members, reading: [.attendeeList(of: space)], services)
    return .json(.object(try await attendees(of: space, limit, after: cursor, view.records, services)))
  }

  /// - Parameter version: has the version of the list, and was read before the list. A client that compares
  ///   it with the version in an event may find the list newer than the version says, but never older.
  private static func attendees(
    of space: SpaceID, _ limit: Int, after cursor: PageCursor?, _ version: Records, _ services: LoopServices
  ) async throws(Refusal) -> JSONObject {
    let page = try await services.page(of: .roster, in: space, limit, after: cursor)
    let inside = page.records.compactMap { record in
      AccountID(record.field).flatMap { account in MemberRecord(text: record.text).map { (account, $0.role) }
      }
    }
    let records = try await services.records(
      inside.flatMap {
        [.hand($0.0, in: space), .profile($0.0, in: space), .attendeeInfo($0.0, in: space)]
      })
    var attendees: [JSONValue] = []
    for (account, role) in inside {
      let stage = try records.json(StageRecord.self, .profile(account, in: space))
      let info = try records.json(ProfileRecord.self, .attendeeInfo(account, in: space))
      let attendee: JSONValue = [
        "accid": .string(account.text), "role": .string(role.rawValue),
        "microphone": role.isHeard(stage) ? "on" : "off",
        "hand": .bool(records.text(.hand(account, in: space)) != nil),
      ]
      attendees.append(attendee.with(info?.texts ?? [:]))
    }
    let sequence = version.text(.attendeeList(of: space)).flatMap { MessageID(streamForm: $0) } ?? .zero
    return [
      "attendees": .array(attendees), "sequence": .string(sequence.text),
      "cursor": page.next.map { .string($0.text) } ?? .null,
    ]
  }

  private static func hand(_ field: String, _ text: String, _: Int64) -> JSONValue? {
    Int64(text).map { ["accid": .string(field), "raisedAt": .integer($0)] }
  }

  /// Logs in to all the rooms that the account is in. Each later request is a heartbeat.
  private static func heartbeat(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    let caller = try request.known()
    let account = try caller.account()
    let index = try await reading { () async throws(StoreError) in
      try await services.store.index(of: account)
    }
    var rooms: [JSONValue] = []
    var failure: Refusal?
    let mine = index.filter { $0.isMember && $0.space.kind == .room }
    for entry in mine.sorted(by: { $0.space.key < $1.space.key }) {
      guard let id = EntityID(entry.space.name) else { continue }
      do {
        _ = try await services.runner.run(Heartbeat(id, actor: caller.actor))
        rooms.append(.string(id.text))
      } catch  where error.code == .notFound || error.code == .notMember {
        // The room was closed or left; the index learns of it a moment later.
      } catch {
        // A room whose node is away must not cost the account its other rooms.
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    let limits = services.runner.limits
    var user: JSONObject = ["accid": .string(account.text)]
    if let device = caller.actor.device { user["deviceId"] = .string(device.text) }
    var answer = JSONText()
    answer.field("user", .object(user))
    answer.field("rooms", .array(rooms))
    answer.field("heartbeatMilliseconds", limits.heartbeatMilliseconds)
    answer.field("absenceMilliseconds", limits.absenceMilliseconds)
    return .json(answer)
  }

  /// An account that removes itself leaves; the removal of another account is a removal.
  private static func removeAttendee(
    _ request: Request, _ services: LoopServices, room: EntityID, account: AccountID
  ) async throws(Refusal) -> HTTPResponse {
    let actor = try request.actor
    if account == actor.account {
      _ = try await services.run(LeaveRoom(room, actor: actor), of: request)
    } else {
      _ = try await services.run(RemoveAttendees(room, actor: actor, accounts: [account]), of: request)
    }
    return .noContent
  }
}

extension String {
  /// Nil if the text is empty, which means that there is none.
  fileprivate var unlessEmpty: String? { isEmpty ? nil : self }
}
