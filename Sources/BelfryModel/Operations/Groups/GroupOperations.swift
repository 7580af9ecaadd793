extension Operations {
  /// What is done to groups.
  package static let groups: [any SpaceOperation.Type] = [
    UpdateGroup.self, DestroyGroup.self, InviteToGroup.self, AnswerGroupInvitation.self, ApplyToGroup.self,
    AnswerGroupApplication.self, LeaveGroup.self, RemoveGroupMembers.self, HandOverGroup.self,
    SetGroupAdmin.self, SetGroupAllowList.self, SetGroupBlockList.self, SetGroupMute.self,
    SetGroupAllMuted.self, SetGroupReceiving.self, SetGroupAnnouncement.self, AddGroupFile.self,
    RemoveGroupFile.self, SetMemberAttributes.self,
  ]
}
