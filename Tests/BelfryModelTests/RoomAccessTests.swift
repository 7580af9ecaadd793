import BelfryModel
import ModelSamples
import Testing

/// The access to rooms: every operation by every kind of account.
struct RoomAccessTests {
  enum Kind: String, CaseIterable {
    case host, guest, listener, former, stranger, app

    var actor: Actor {
      switch self {
      case .host: RoomDesk.hal
      case .guest: RoomDesk.gus
      case .listener: RoomDesk.lou
      case .former: RoomDesk.fay
      case .stranger: RoomDesk.sam
      case .app: RoomDesk.app
      }
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var operation: @Sendable (Actor) -> any Operation
    /// The results by kind of account, in the order of the kinds: `ok`, or the code of the refusal.
    var results: [String]

    init(
      _ name: String, _ results: String, _ operation: @escaping @Sendable (Actor) -> any Operation
    ) {
      testDescription = name
      self.operation = operation
      self.results = results.split(separator: " ").map(String.init)
    }
  }

  static let room = RoomDesk.room
  static let token = RoomDesk.token("lou")

  //  host, guest, listener, former, stranger, app
  static let rows: [Row] = [
    Row("create", "ok ok ok ok ok ok") {
      CreateRoom(id: 8, host: $0.account ?? "ann", actor: $0, subject: "Ropes")
    },
    Row("enter", "ok ok ok ok ok invalidField") { EnterRoom(room, actor: $0) },
    Row("leave", "ok ok ok notMember notMember invalidField") { LeaveRoom(room, actor: $0) },
    Row("remove", "ok forbidden forbidden notMember notMember ok") {
      RemoveAttendees(room, actor: $0, accounts: ["lea"])
    },
    Row("hand", "forbidden forbidden ok notMember notMember invalidField") {
      SetHand(room, actor: $0, isRaised: true)
    },
    Row("lower lea's hand", "ok forbidden forbidden notMember notMember ok") {
      SetHand(room, actor: $0, of: "lea", isRaised: false)
    },
    Row("invite", "ok forbidden forbidden notMember notMember ok") {
      InviteToStage(room, actor: $0, account: "lea")
    },
    Row("answer", "notFound notFound ok notMember notMember invalidField") {
      AnswerStageInvitation(room, actor: $0, token: token, isAccepted: true)
    },
    Row("decline", "notFound notFound ok notMember notMember invalidField") {
      AnswerStageInvitation(room, actor: $0, token: token, isAccepted: false)
    },
    Row("step down", "forbidden ok ok notMember notMember notFound") {
      SetListener(room, actor: $0, account: $0.account ?? "ann")
    },
    Row("set back", "ok ok forbidden notMember notMember ok") {
      SetListener(room, actor: $0, account: "gus")
    },
    Row("set the host back", "forbidden forbidden forbidden notMember notMember forbidden") {
      SetListener(room, actor: $0, account: "hal")
    },
    Row("own microphone", "ok ok forbidden notMember notMember notFound") {
      SetMicrophone(room, actor: $0, account: $0.account ?? "ann", isOn: true)
    },
    Row("a guest's microphone off", "ok ok forbidden notMember notMember ok") {
      SetMicrophone(room, actor: $0, account: "gus", isOn: false)
    },
    Row("a guest's microphone on", "forbidden ok forbidden notMember notMember forbidden") {
      SetMicrophone(room, actor: $0, account: "gus", isOn: true)
    },
    Row("the host's microphone off", "ok forbidden forbidden notMember notMember ok") {
      SetMicrophone(room, actor: $0, account: "hal", isOn: false)
    },
    Row("a listener's microphone off", "forbidden forbidden forbidden notMember notMember forbidden") {
      SetMicrophone(room, actor: $0, account: "lea", isOn: false)
    },
    Row("update", "ok forbidden forbidden notMember notMember ok") {
      UpdateRoom(room, actor: $0, subject: "Ropes")
    },
    Row("close", "ok forbidden forbidden notMember notMember ok") { CloseRoom(room, actor: $0) },
    Row("heartbeat", "ok ok ok notMember notMember invalidField") { Heartbeat(room, actor: $0) },
    Row("time out", "forbidden forbidden forbidden forbidden forbidden ok") {
      var operation = TimeOutAttendees(RoomDesk.space, accounts: ["lea"])
      operation.actor = $0
      return operation
    },
  ]

  @Test(arguments: rows)
  func isAllowedOrRefused(row: Row) throws {
    let desk = try RoomDesk.desk()
    let results = Kind.allCases.map { desk.refusal(of: row.operation($0.actor))?.code.rawValue ?? "ok" }
    #expect(results == row.results)
  }

  /// A back end that acts for an account may do all acts of that account, and all acts of the host.
  @Test(arguments: rows)
  func aBackEndMayDoWhatTheAccountMay(row: Row) throws {
    let desk = try RoomDesk.desk()
    for (kind, result) in zip(Kind.allCases, row.results) where kind != .app && result == "ok" {
      let onBehalf = Actor(account: kind.actor.account, isTrusted: true)
      #expect(desk.refusal(of: row.operation(onBehalf)) == nil, "\(kind)")
    }
  }

  @Test(arguments: rows)
  func aClosedRoomIsThereForNobody(row: Row) throws {
    var desk = try RoomDesk.desk()
    try desk.carryOut(CloseRoom(Self.room, actor: RoomDesk.hal))
    for kind in Kind.allCases {
      let operation = row.operation(kind.actor)
      guard operation.space == RoomDesk.space else { continue }
      #expect(desk.refusal(of: operation)?.code == .notFound)
      #expect(desk.refusal(of: operation)?.field == "roomId")
    }
  }

  /// An operation that is in no row has no rule that anybody looked at.
  @Test func everyOperationHasARow() {
    let tried = Set(Self.rows.map { "\(type(of: $0.operation(RoomDesk.app)))" })
    #expect(tried == Set(Operations.rooms.map { "\($0)" } + ["CreateRoom"]))
  }
}
