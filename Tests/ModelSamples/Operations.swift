package import BelfryModel

/// The operations on what exists, by scene: tests that cover all of them compare what they cover with this.
package enum Operations {
  /// The operations on servers that exist, and on their members.
  package static let servers: [any SpaceOperation.Type] = [
    UpdateServer.self, RemoveServer.self, InviteToServer.self, AnswerServerInvitation.self,
    ApplyToServer.self, AnswerServerApplication.self, CreateInviteCode.self, RevokeInviteCode.self,
    JoinByInviteCode.self, AddMembers.self, KickMembers.self, LeaveServer.self, BanAccounts.self,
    UnbanAccounts.self, UpdateMember.self, SetAdmin.self, HandOverServer.self, SetSubscription.self,
    SubscribeToChannels.self, SetServerMute.self, AnnounceInServer.self,
  ]

  /// The operations on the channels of a server.
  package static let channels: [any SpaceOperation.Type] = [
    CreateChannel.self, UpdateChannel.self, RemoveChannel.self, JoinChannel.self, LeaveChannel.self,
    InviteToChannel.self, AnswerChannelInvitation.self, RemoveFromChannel.self, ChangeChannelList.self,
    MuteInChannel.self, UnmuteInChannel.self,
  ]

  /// The operations on groups.
  package static let groups: [any SpaceOperation.Type] = [
    UpdateGroup.self, DestroyGroup.self, InviteToGroup.self, AnswerGroupInvitation.self, ApplyToGroup.self,
    AnswerGroupApplication.self, LeaveGroup.self, RemoveGroupMembers.self, HandOverGroup.self,
    SetGroupAdmin.self, SetGroupAllowList.self, SetGroupBlockList.self, SetGroupMute.self,
    SetGroupAllMuted.self, SetGroupReceiving.self, SetGroupAnnouncement.self, AddGroupFile.self,
    RemoveGroupFile.self, SetMemberAttributes.self,
  ]

  /// The operations on rooms.
  package static let rooms: [any SpaceOperation.Type] = [
    EnterRoom.self, LeaveRoom.self, RemoveAttendees.self, SetHand.self, InviteToStage.self,
    AnswerStageInvitation.self, SetListener.self, SetMicrophone.self, CloseRoom.self, Heartbeat.self,
    UpdateRoom.self,
    TimeOutAttendees.self,
  ]
}
