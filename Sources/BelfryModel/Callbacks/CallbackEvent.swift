/// The events that callbacks can be configured for.
package enum CallbackEvent {
  package static let send = "notification.send"
  package static let update = "notification.update"

  /// Each event once: all ways of joining have one name.
  package static let all = [send, update] + Set(operations.flatMap { $0.names.map(\.event) }).sorted()

  /// The operations that callers ask for, without the heartbeats of rooms, which come all the time.
  package static let operations: [any NamedOperation.Type] = servers + channels + groups + rooms

  private static let servers: [any NamedOperation.Type] = [
    CreateServer.self, UpdateServer.self, RemoveServer.self, HandOverServer.self, SetAdmin.self,
    InviteToServer.self, AnswerServerInvitation.self, ApplyToServer.self, AnswerServerApplication.self,
    CreateInviteCode.self, RevokeInviteCode.self, JoinByInviteCode.self, AddMembers.self, UpdateMember.self,
    KickMembers.self, LeaveServer.self, BanAccounts.self, UnbanAccounts.self, SetSubscription.self,
    SubscribeToChannels.self, SetServerMute.self, AnnounceInServer.self,
  ]

  private static let channels: [any NamedOperation.Type] = [
    CreateChannel.self, UpdateChannel.self, RemoveChannel.self, InviteToChannel.self,
    AnswerChannelInvitation.self, JoinChannel.self, LeaveChannel.self, RemoveFromChannel.self,
    MuteInChannel.self, UnmuteInChannel.self, ChangeChannelList.self,
  ]

  private static let groups: [any NamedOperation.Type] = [
    CreateGroup.self, UpdateGroup.self, SetGroupDisabled.self, DestroyGroup.self, HandOverGroup.self,
    SetGroupAdmin.self, InviteToGroup.self, AnswerGroupInvitation.self, ApplyToGroup.self,
    AnswerGroupApplication.self, LeaveGroup.self, RemoveGroupMembers.self, SetGroupMute.self,
    SetGroupAllMuted.self, SetGroupReceiving.self, SetGroupAllowList.self, SetGroupBlockList.self,
    SetGroupAnnouncement.self, AddGroupFile.self, RemoveGroupFile.self, SetMemberAttributes.self,
  ]

  private static let rooms: [any NamedOperation.Type] = [
    CreateRoom.self, UpdateRoom.self, CloseRoom.self, EnterRoom.self, LeaveRoom.self, RemoveAttendees.self,
    SetHand.self,
    SetMicrophone.self, InviteToStage.self, AnswerStageInvitation.self, SetListener.self,
  ]
}
