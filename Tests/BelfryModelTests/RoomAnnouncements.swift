import BelfryModel
import ModelSamples

extension AnnouncementRow {
  private static let desk = RoomDesk.self
  private static let room = RoomDesk.room

  /// The time by the clock of the desk, which stands still.
  private static let tokenEnds = 1_763_700_000_000 + Limits().stageInvitationMilliseconds

  static let rooms: [AnnouncementRow] = [
    row("create", CreateRoom(id: 8, host: "sam", actor: desk.sam, subject: "Ropes"), []),
    row("enter", EnterRoom(room, actor: desk.sam), ["401 to all inside"]),
    row("come back", EnterRoom(room, actor: desk.fay), ["401 to all inside"]),
    row("enter when inside", EnterRoom(room, actor: desk.lea), []),
    row("leave", LeaveRoom(room, actor: desk.lea), ["402 to all inside +lea"]),
    row("leave as the host", LeaveRoom(room, actor: desk.hal), ["408 to all"]),
    row(
      "put out", RemoveAttendees(room, actor: desk.hal, accounts: ["lea", "gus", "lea"]),
      ["402 to all inside +lea", "402 to all inside +gus"]),
    row("raise a hand", SetHand(room, actor: desk.lea, isRaised: true), ["403 to all inside"]),
    row("raise a raised hand", SetHand(room, actor: desk.lou, isRaised: true), []),
    row("lower a hand", SetHand(room, actor: desk.lou, isRaised: false), ["403 to all inside"]),
    row(
      "invite on stage", InviteToStage(room, actor: desk.hal, account: "lea"),
      ["404 to named until:\(tokenEnds) +lea"]),
    row(
      "invite again", InviteToStage(room, actor: desk.hal, account: "lou"),
      ["404 to named until:\(tokenEnds) +lou"]),
    row(
      "go on stage",
      AnswerStageInvitation(room, actor: desk.lou, token: desk.token("lou"), isAccepted: true),
      ["405 to named inside +hal", "406 to all inside", "403 to all inside"]),
    row(
      "stay off the stage",
      AnswerStageInvitation(room, actor: desk.lou, token: desk.token("lou"), isAccepted: false),
      ["405 to named inside +hal"]),
    row("step down", SetListener(room, actor: desk.gus, account: "gus"), ["406 to all inside"]),
    row("set back", SetListener(room, actor: desk.hal, account: "gus"), ["406 to all inside"]),
    row("set a listener back", SetListener(room, actor: desk.hal, account: "lea"), []),
    row(
      "switch one's microphone on", SetMicrophone(room, actor: desk.gus, account: "gus", isOn: true),
      ["407 to all inside"]
    ) { try $0.carryOut(SetMicrophone(room, actor: desk.gus, account: "gus", isOn: false)) },
    row("switch on what is on", SetMicrophone(room, actor: desk.gus, account: "gus", isOn: true), []),
    row(
      "switch off what is off", SetMicrophone(room, actor: desk.hal, account: "gus", isOn: false), []
    ) { try $0.carryOut(SetMicrophone(room, actor: desk.gus, account: "gus", isOn: false)) },
    row(
      "switch another's off", SetMicrophone(room, actor: desk.hal, account: "gus", isOn: false),
      ["407 to all inside"]),
    row(
      "switch another's off as an app", SetMicrophone(room, actor: desk.app, account: "gus", isOn: false),
      ["407 to all inside"]),
    row(
      "step down muted", SetListener(room, actor: desk.gus, account: "gus"), ["406 to all inside"]
    ) { try $0.carryOut(SetMicrophone(room, actor: desk.hal, account: "gus", isOn: false)) },
    row("update", UpdateRoom(room, actor: desk.hal, subject: "Ropes"), ["409 to all inside"]),
    row("update nothing", UpdateRoom(room, actor: desk.hal), []),
    row("close", CloseRoom(room, actor: desk.hal), ["408 to all"]),
    row("close as an app", CloseRoom(room, actor: desk.app), ["408 to all"]),
    row("sign of life", Heartbeat(room, actor: desk.lea), []),
    row("time out nobody", TimeOutAttendees(desk.space, accounts: ["hal", "lea", "fay", "sam"]), []),
    row(
      "time out", TimeOutAttendees(desk.space, accounts: ["hal", "lea", "gus", "lea", "fay", "sam"]),
      ["402 to all inside +lea", "402 to all inside +gus"]
    ) { try $0.letEveryoneFallSilent(but: [desk.hal, desk.lou]) },
    row(
      "time out the host", TimeOutAttendees(desk.space, accounts: ["lea", "hal", "gus"]), ["408 to all"]
    ) { try $0.letEveryoneFallSilent() },
    row("empty an open room", EmptyClosedRoom(desk.space, accounts: ["lea", "hal"]), []),
    row("empty a closed room", EmptyClosedRoom(desk.space, accounts: ["lea", "hal", "sam"]), []) {
      try $0.carryOut(CloseRoom(room, actor: desk.hal))
    },
  ]

  private static func row(
    _ name: String, _ operation: any Operation, _ announced: [String],
    when prepare: @escaping @Sendable (inout Desk) throws -> Void = { _ in }
  ) -> AnnouncementRow {
    AnnouncementRow(
      testDescription: name,
      desk: {
        var desk = try RoomDesk.desk()
        try prepare(&desk)
        return desk
      }, operation: operation, announced: announced)
  }
}
