extension Operations {
  /// What is done to rooms.
  package static let rooms: [any SpaceOperation.Type] = [
    EnterRoom.self, LeaveRoom.self, RemoveAttendees.self, SetHand.self, InviteToStage.self,
    AnswerStageInvitation.self, SetListener.self, SetMicrophone.self, CloseRoom.self, Heartbeat.self,
    TimeOutAttendees.self,
  ]
}
