import BelfryModel
import ModelSamples
import Testing

/// Refusals in a room that do not depend on the caller.
struct RoomRefusalTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var operation: any Operation
    var code: Refusal.Code
    var field: String?
    var prepare: @Sendable (inout Desk) throws -> Void

    init(
      _ name: String, _ operation: any Operation, _ code: Refusal.Code, field: String? = nil,
      when prepare: @escaping @Sendable (inout Desk) throws -> Void = { _ in }
    ) {
      testDescription = name
      self.operation = operation
      self.code = code
      self.field = field
      self.prepare = prepare
    }
  }

  static let desk = RoomDesk.self
  static let room = RoomDesk.room

  static let rows: [Row] = [
    Row("creating one that exists", create(room), .conflict, field: "roomId"),
    Row("creating what was closed", create(room), .conflict, field: "roomId") {
      try $0.carryOut(CloseRoom(room, actor: desk.hal))
    },
    Row("creating one too many", create(8), .tooMany) {
      $0.spacesOfEachJoiner = $0.limits.roomsPerAccount
    },
    Row("entering none", EnterRoom(8, actor: desk.sam), .notFound, field: "roomId"),
    Row("entering one too many", EnterRoom(room, actor: desk.sam), .tooMany) {
      $0.spacesOfEachJoiner = $0.limits.roomsPerAccount
    },
    Row("entering a full one", EnterRoom(room, actor: desk.sam), .tooMany) {
      $0.limits.attendeesPerRoom = 4
    },
    Row("putting nobody out", remove([]), .invalidField, field: "accids"),
    Row("putting a stranger out", remove(["lea", "sam"]), .notFound, field: "accids"),
    Row("putting oneself out", remove(["lea", "hal"]), .forbidden, field: "accids"),
    Row("inviting a stranger", invite("sam"), .notFound, field: "accid"),
    Row("inviting who has left", invite("fay"), .notFound, field: "accid"),
    Row("inviting a guest", invite("gus"), .conflict, field: "accid"),
    Row("inviting oneself", invite("hal"), .conflict, field: "accid"),
    Row("accepting an invitation of another's", accept(desk.lea), .notFound, field: "token"),
    Row("accepting too late", accept(desk.lou), .notFound, field: "token") {
      $0.nowMilliseconds += $0.limits.stageInvitationMilliseconds
    },
    Row("accepting twice", accept(desk.lou), .notFound, field: "token") {
      try $0.carryOut(accept(desk.lou))
    },
    Row("accepting after declining", accept(desk.lou), .notFound, field: "token") {
      var decline = accept(desk.lou)
      decline.isAccepted = false
      try $0.carryOut(decline)
    },
    Row("accepting an invitation of an earlier stay", accept(desk.lou), .notFound, field: "token") {
      try $0.carryOut(LeaveRoom(room, actor: desk.lou))
      try $0.carryOut(EnterRoom(room, actor: desk.lou))
    },
    Row(
      "setting a stranger back", SetListener(room, actor: desk.hal, account: "sam"), .notFound, field: "accid"
    ),
    Row(
      "another's microphone on", SetMicrophone(room, actor: desk.hal, account: "gus", isOn: true), .forbidden,
      field: "on"),
    Row(
      "a listener's microphone", SetMicrophone(room, actor: desk.lou, account: "lou", isOn: true), .forbidden,
      field: "accid"),
  ]

  @Test(arguments: rows)
  func isRefused(row: Row) throws {
    var desk = try RoomDesk.desk()
    try row.prepare(&desk)
    let refusal = desk.refusal(of: row.operation)
    #expect(refusal?.code == row.code)
    #expect(refusal?.field == row.field)
    #expect(refusal?.detail.isEmpty == false)
    #expect(refusal?.operationNames == [])
  }

  static func create(_ id: EntityID) -> CreateRoom {
    CreateRoom(id: id, host: "sam", actor: desk.sam, subject: "Ropes")
  }
  static func remove(_ accounts: [AccountID]) -> RemoveAttendees {
    RemoveAttendees(room, actor: desk.hal, accounts: accounts)
  }
  static func invite(_ account: AccountID) -> InviteToStage {
    InviteToStage(room, actor: desk.hal, account: account)
  }
  static func accept(_ actor: Actor) -> AnswerStageInvitation {
    AnswerStageInvitation(room, actor: actor, token: desk.token("lou"), isAccepted: true)
  }
}
