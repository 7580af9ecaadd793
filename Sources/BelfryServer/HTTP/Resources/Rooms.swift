import BelfryModel
import BelfryStore

enum Rooms {
  static let subject = Field(
    "subject", .text(characters: 1...Limits.nameCharacters), "what it is about")
  static let on = Field("on", .flag, "whether the microphone is on")

  static let shape = Shape.resource(
    "Room",
    [
      .always("roomId", .id, "its id"), .always("subject", .text, "what it is about"),
      .always("host", .account, "who opened it"), .always("createTime", .time, "when it was opened"),
      .sometimes("attendeeCount", .count, "how many are inside"),
      .sometimes("ext", .text, "anything its host put there"),
    ])
  static let attendee = Shape.resource(
    "Attendee",
    [.always("accid", .account, "who"), .always("role", .choice(MemberRole.self), "host, guest or listener")])
  static let attendees = Shape.object([
    .always("attendees", .list(attendee), "in no particular order"),
    .always(
      "sequence", .id, "grows whenever somebody enters, leaves or changes roles: the list's version"),
    .always("cursor", .orNull(.cursor), "where the list goes on; null at its end"),
  ])
  static let hand = Shape.resource(
    "Hand", [.always("accid", .account, "who"), .always("raisedAt", .time, "since when")])
  static let invitation = Shape.resource(
    "StageInvitation",
    [.always("token", .id, "what the listener answers with"), .always("expiresAt", .time, "until when")])
  static let presence = Shape.object([
    .always("rooms", .list(.id), "the rooms in which the account is present"),
    .always("heartbeatMilliseconds", .count, "when to give the next sign of life"),
    .always("absenceMilliseconds", .count, "after how long without one the account is out of all its rooms"),
  ])

  static func create(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let caller = try request.known()
    var operation = CreateRoom(
      id: .random(), host: try caller.account(), actor: caller.actor, subject: try request[subject.needed])
    operation.ext = try request[SharedFields.ext]
    let room = try await services.runner.run(operation).output
    return .json(room.info(operation.space).with(["attendeeCount": 1]), status: 201)
      .located(at: "/v1/rooms/\(operation.space.name)")
  }

  /// Open rooms, the newest first. One that was closed is listed until its log has drained; it is not shown.
  static func directory(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let (limit, after) = (try request[SharedFields.limit], try request[SharedFields.cursor])
    let (page, records) = try await reading { () async throws(StoreError) in
      let page = try await services.store.page(of: .rooms, after: after, limit: limit)
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

  static func show(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let look = try await Look<RoomRecord>(
      request, at: .room(try request.room), for: { _ in .anyAccount }, services)
    let count = try await services.count(.roster, of: look.space)
    return .json(look.settings.info(look.space).with(["attendeeCount": .integer(Int64(count))]))
  }

  static func listAttendees(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let space = SpaceID.room(try request.room)
    let version = RecordAddress.attendeeList(of: space)
    let look = try await Look<RoomRecord>(
      request, at: space, for: { _ in .members }, reading: [version], services)
    let page = try await services.page(of: .roster, in: space, request)
    let sequence = look.records.text(version).flatMap { MessageID(streamForm: $0) } ?? .zero
    var answer = JSONText(capacity: 128 * (page.records.count + 1))
    answer.field("attendees", .array(page.records.compactMap { Groups.member($0.field, $0.text, 0) }))
    answer.field("sequence", sequence.text)
    answer.field("cursor", page.next.map { .string($0.text) } ?? .null)
    return .json(answer)
  }

  static func hand(_ field: String, _ text: String, _: Int64) -> JSONValue? {
    Int64(text).map { ["accid": .string(field), "raisedAt": .integer($0)] }
  }

  /// Logging in, and every sign of life after it: in all the rooms that the account is in.
  static func heartbeat(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
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
  static func removeAttendee(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let (room, account, actor) = (try request.room, try request.account, try request.actor)
    if account == actor.account {
      _ = try await services.runner.run(LeaveRoom(room, actor: actor))
    } else {
      _ = try await services.runner.run(RemoveAttendees(room, actor: actor, accounts: [account]))
    }
    return .noContent
  }

  /// A hand is one's own: the path names whose, so that nobody raises another's by mistake.
  static func setHand(_ request: Request, isRaised: Bool) throws(Refusal) -> SetHand {
    guard try request.actor.account == (try request.account) else {
      throw Refusal(.forbidden, "a hand is raised and lowered by whose it is", field: "accid")
    }
    return SetHand(try request.room, actor: try request.actor, isRaised: isRaised)
  }
}
