import BelfryModel

// The operations on spaces. A new operation is a new row.

extension Command {
  // MARK: Servers

  static let ofServers: [Command] = [
    Command {
      var update = UpdateServer($0.id, actor: $0.actor)
      update.inviteMode = $0.pick(InviteMode.allCases)
      update.applyMode = $0.isOn ? .joinsAtOnce : .needsApproval
      update.membersMayInvite = $0.isOn
      update.adminsMayCreateChannels = $0.isOn
      return update
    },
    Command {
      InviteToServer(
        $0.id, actor: $0.actor, accounts: $0.guests, postscript: $0.text, requestId: $0.requestId)
    },
    Command {
      let request = $0.request(.invitation)
      return AnswerServerInvitation(
        $0.id, actor: $0.invitee(request), id: $0.id(of: request), isAccepted: $0.isOn)
    },
    Command { ApplyToServer($0.id, actor: $0.applicant, postscript: $0.text) },
    Command {
      AnswerServerApplication(
        $0.id, actor: $0.actor, id: $0.id(of: $0.request(.application)), isAccepted: $0.isOn)
    },
    Command { CreateInviteCode($0.id, actor: $0.actor, code: $0.code) },
    Command { RevokeInviteCode($0.id, actor: $0.actor, code: $0.knownCode) },
    Command { JoinByInviteCode($0.id, actor: $0.applicant, code: $0.knownCode, requestId: $0.requestId) },
    Command { BanAccounts($0.id, actor: $0.actor, accounts: $0.others) },
    Command { UnbanAccounts($0.id, actor: $0.actor, accounts: $0.exiles) },
    Command {
      var update = UpdateMember($0.id, actor: $0.actor, account: $0.account)
      update.nick = $0.text
      return update
    },
    Command {
      SetServerMute(
        $0.id, actor: $0.actor, accounts: $0.others,
        durationMilliseconds: $0.isOn ? $0.durationMilliseconds : nil)
    },
    Command {
      AnnounceInServer(
        $0.id, actor: $0.actor, type: $0.isOn ? 26 : 20, accounts: $0.others,
        channel: $0.isOn ? nil : $0.channel, attach: nil)
    },
    Command { SetAdmin($0.id, actor: $0.actor, account: $0.account, isAdmin: $0.isOn) },
    Command { HandOverServer($0.id, actor: $0.actor, to: $0.account) },
    Command {
      SubscribeToChannels($0.id, channels: $0.allChannels, actor: $0.actor, isSubscribed: $0.isOn)
    },
  ]

  // MARK: Channels

  static let ofChannels: [Command] = [
    Command { JoinChannel($0.id, id: $0.channel, actor: $0.actor) },
    Command { LeaveChannel($0.id, id: $0.channel, actor: $0.actor) },
    Command {
      InviteToChannel(
        $0.id, id: $0.channel, actor: $0.actor, accounts: $0.others, postscript: $0.text)
    },
    Command {
      let request = $0.request(.channelInvitation)
      return AnswerChannelInvitation(
        $0.id, id: request.channel ?? $0.channel, request: $0.id(of: request), actor: $0.invitee(request),
        isAccepted: $0.isOn, postscript: nil)
    },
    Command { RemoveFromChannel($0.id, id: $0.channel, actor: $0.actor, accounts: $0.others) },
    Command {
      ChangeChannelList(
        $0.id, id: $0.channel, actor: $0.actor, list: $0.pick(ChangeChannelList.List.allCases),
        adds: $0.isOn, accounts: $0.others)
    },
    Command {
      MuteInChannel(
        $0.id, id: $0.channel, actor: $0.actor, accounts: $0.others,
        durationMilliseconds: $0.durationMilliseconds)
    },
    Command { UnmuteInChannel($0.id, id: $0.channel, actor: $0.actor, accounts: $0.others) },
  ]

  // MARK: Groups

  static let createGroup = OperationName(.group, "create")

  static let ofGroups: [Command] = [
    Command(createGroup, in: .group) {
      var create = CreateGroup(
        id: $0.id, owner: $0.subject, actor: $0.actor, name: "Ringers", style: $0.pick(GroupStyle.allCases)
      )
      create.invitees = $0.guests
      create.inviteNeedConfirm = $0.isOn
      return create
    },
    Command(OperationName(.any, "update"), in: .group) {
      UpdateAccount($0.subject, actor: $0.actor, autoAcceptInvitation: $0.isOn)
    },
    Command(OperationName(.any, "options"), in: .group) {
      var update = UpdateAccount($0.subject, actor: $0.actor)
      update.mayWrite = $0.pick([.everybody, .sharedSpace, .everybody, .nobody])
      update.mayInvite = $0.pick([.sharedSpace, .everybody, .everybody])
      update.mayAdd = $0.pick([.everybody, .nobody, .sharedSpace])
      return update
    },
    Command(OperationName(.any, "prefer"), in: .group) {
      SetPreferences($0.preferences, of: $0.subject, actor: $0.actor)
    },
    Command(OperationName(.any, "block"), in: .group) {
      BlockAccount($0.account, by: $0.subject, actor: $0.actor, isBlocked: $0.isOn)
    },
    Command {
      var update = UpdateGroup($0.id, actor: $0.actor)
      update.groupName = $0.text
      update.inviteNeedConfirm = $0.isOn
      return update
    },
    Command { DestroyGroup($0.id, actor: $0.actor) },
    Command { InviteToGroup($0.id, actor: $0.actor, accounts: $0.guests, message: $0.text) },
    Command {
      let request = $0.request(.invitation)
      return AnswerGroupInvitation(
        $0.id, actor: $0.invitee(request), request: $0.id(of: request), isAccepted: $0.isOn)
    },
    Command { ApplyToGroup($0.id, actor: $0.applicant, reason: $0.text) },
    Command {
      AnswerGroupApplication(
        $0.id, actor: $0.actor, request: $0.id(of: $0.request(.application)), isApproved: $0.isOn)
    },
    Command { LeaveGroup($0.id, actor: $0.actor) },
    Command { RemoveGroupMembers($0.id, actor: $0.actor, accounts: $0.others) },
    Command { HandOverGroup($0.id, actor: $0.actor, to: $0.account) },
    Command { SetGroupAdmin($0.id, actor: $0.actor, account: $0.account, isAdmin: $0.isOn) },
    Command { SetGroupAllowList($0.id, actor: $0.actor, accounts: $0.others, isListed: $0.isOn) },
    Command {
      SetGroupBlockList($0.id, actor: $0.actor, accounts: $0.isOn ? $0.others : $0.exiles, isBlocked: $0.isOn)
    },
    Command {
      SetGroupMute(
        $0.id, actor: $0.actor, accounts: $0.others,
        durationMilliseconds: $0.isOn ? $0.durationMilliseconds : nil)
    },
    Command { SetGroupAllMuted($0.id, actor: $0.actor, isOn: $0.isOn) },
    Command { SetGroupReceiving($0.id, actor: $0.actor, receives: !$0.isOn) },
    Command { SetGroupAnnouncement($0.id, actor: $0.actor, announcement: $0.text) },
    Command {
      AddGroupFile(
        $0.id, id: $0.file, actor: $0.actor, name: "score", url: "https://bells.example/score",
        sizeBytes: 7)
    },
    Command { RemoveGroupFile($0.id, id: $0.knownFile, actor: $0.actor) },
    Command {
      SetMemberAttributes($0.id, actor: $0.actor, account: $0.account, attributes: ["rope": $0.text])
    },
  ]

  // MARK: Rooms

  static let ofRooms: [Command] = [
    Command(CreateRoom.name, in: .room) {
      CreateRoom(id: $0.id, host: $0.subject, actor: $0.actor, subject: "Practice")
    },
    Command { EnterRoom($0.id, actor: $0.actor) },
    Command { LeaveRoom($0.id, actor: $0.actor) },
    Command { RemoveAttendees($0.id, actor: $0.actor, accounts: $0.others) },
    Command { SetHand($0.id, actor: $0.actor, isRaised: $0.isOn) },
    Command { InviteToStage($0.id, actor: $0.actor, account: $0.account) },
    Command {
      let request = $0.request(.stageInvitation)
      return AnswerStageInvitation(
        $0.id, actor: $0.invitee(request), token: $0.id(of: request), isAccepted: $0.isOn)
    },
    Command { SetListener($0.id, actor: $0.actor, account: $0.account) },
    Command { SetMicrophone($0.id, actor: $0.actor, account: $0.account, isOn: $0.isOn) },
    Command { UpdateRoom($0.id, actor: $0.actor, ext: $0.text) },
    Command { CloseRoom($0.id, actor: $0.actor) },
    Command { Heartbeat($0.id, actor: $0.actor) },
    Command { TimeOutAttendees($0.space, accounts: $0.others) },
    Command(EmptyClosedRoom.name, in: .room) {
      EmptyClosedRoom($0.closed ?? $0.space, accounts: $0.isOn ? $0.cast.accounts : $0.others)
    },
  ]

  // MARK: Stories

  /// Deeds that make sense of one another, in one space: by chance alone hardly anybody would answer what
  /// another asks.
  static let stories: [[OperationName]] = [
    [InviteToServer.name, AnswerServerInvitation.name],
    [ApplyToServer.name, AnswerServerApplication.name],
    [CreateInviteCode.name, JoinByInviteCode.name, RevokeInviteCode.name],
    [BanAccounts.name, ApplyToServer.name, UnbanAccounts.name],
    [InviteToChannel.name, AnswerChannelInvitation.name],
    [MuteInChannel.name, UnmuteInChannel.name], [ChangeChannelList.name, ChangeChannelList.name],
    [InviteToGroup.name, AnswerGroupInvitation.name],
    [ApplyToGroup.name, AnswerGroupApplication.name],
    [AddGroupFile.name, RemoveGroupFile.name], [SetGroupReceiving.name], [SetGroupMute.name],
    [DestroyGroup.name, createGroup],
    [EnterRoom.name, SetHand.name],
    [InviteToStage.name, AnswerStageInvitation.name, SetMicrophone.name, SetListener.name],
    [CloseRoom.name, EmptyClosedRoom.name, CreateRoom.name, EnterRoom.name, EnterRoom.name],
  ]
}
