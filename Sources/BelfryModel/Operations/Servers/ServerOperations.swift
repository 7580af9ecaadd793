extension Operations {
  /// What is done to servers that exist, and to their members.
  package static let servers: [any SpaceOperation.Type] = [
    UpdateServer.self, RemoveServer.self, InviteToServer.self, AnswerServerInvitation.self,
    ApplyToServer.self, AnswerServerApplication.self, CreateInviteCode.self, RevokeInviteCode.self,
    JoinByInviteCode.self, AddMembers.self, KickMembers.self, LeaveServer.self, BanAccounts.self,
    UnbanAccounts.self, UpdateMember.self, SetAdmin.self, HandOverServer.self, SetSubscription.self,
    SubscribeToChannels.self,
  ]
}
