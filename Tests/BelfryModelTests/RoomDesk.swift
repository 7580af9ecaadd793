import BelfryModel
import ModelSamples

/// Room 7: `hal` is its host, `gus` a guest on stage, `lea` and `lou` listen; `fay` has left; `sam` is a
/// stranger. Lou has raised a hand and is invited on stage.
struct RoomDesk {
  static let room: EntityID = 7
  static let space = SpaceID.room(room)

  static let hal = Actor(account: "hal", device: "hal-1")
  static let gus = Actor(account: "gus")
  static let lea = Actor(account: "lea", device: "lea-1")
  static let lou = Actor(account: "lou")
  static let fay = Actor(account: "fay")
  static let sam = Actor(account: "sam")
  static let app = Actor(account: nil, isTrusted: true)

  static func token(_ account: AccountID) -> RequestID { RequestID(.stageInvitation, of: account, in: space) }

  static func desk() throws -> Desk { try Desk(history) }

  private static let history: [any Operation] = [
    CreateRoom(id: room, host: "hal", actor: hal, subject: "Bells at night"),
    EnterRoom(room, actor: gus), EnterRoom(room, actor: lea), EnterRoom(room, actor: lou),
    EnterRoom(room, actor: fay), LeaveRoom(room, actor: fay),
    InviteToStage(room, actor: hal, account: "gus"),
    AnswerStageInvitation(room, actor: gus, token: token("gus"), isAccepted: true),
    SetHand(room, actor: lou, isRaised: true),
    InviteToStage(room, actor: hal, account: "lou"),
  ]
}

extension Desk {
  func attendee(_ account: AccountID) -> MemberRecord? { member(account, of: RoomDesk.space) }
  var room: RoomRecord? { settings(RoomRecord.self, RoomDesk.space) }
  func presence(_ account: AccountID) -> String? { texts[.presence(account, in: RoomDesk.space)] }
  func hand(_ account: AccountID) -> String? { texts[.hand(account, in: RoomDesk.space)] }
  func microphone(_ account: AccountID) -> String? { texts[.profile(account, in: RoomDesk.space)] }
  var attendeeList: String? { texts[.attendeeList(of: RoomDesk.space)] }

  /// Lets so much time pass that an attendee without a sign of life is absent.
  mutating func letEveryoneFallSilent(but present: [Actor] = []) throws(Refusal) {
    nowMilliseconds += limits.absenceMilliseconds - 1
    for actor in present { try carryOut(Heartbeat(RoomDesk.room, actor: actor)) }
    nowMilliseconds += 1
  }
}
