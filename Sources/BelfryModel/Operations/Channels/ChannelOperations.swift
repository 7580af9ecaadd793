extension Operations {
  /// What is done to the channels of a server.
  package static let channels: [any SpaceOperation.Type] = [
    CreateChannel.self, UpdateChannel.self, RemoveChannel.self, JoinChannel.self, LeaveChannel.self,
    InviteToChannel.self, AnswerChannelInvitation.self, RemoveFromChannel.self, ChangeChannelList.self,
    MuteInChannel.self, UnmuteInChannel.self,
  ]
}
