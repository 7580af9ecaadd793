import BelfryModel
import ModelSamples

/// Operations on the server of ``ServerDesk``, as the tables of the tests name them.
extension ServerDesk {
  static let code = InviteCode(bits: 0x0123_4567_89ab_cdef)

  static func actor(_ account: AccountID) -> Actor { Actor(account: account) }

  static func invite(_ actor: Actor, _ accounts: [AccountID], _ postscript: String = "come") -> InviteToServer
  {
    InviteToServer(server, actor: actor, accounts: accounts, postscript: postscript, requestId: "r3")
  }
  static func answerInvitation(
    of account: AccountID, by actor: Actor? = nil, _ isAccepted: Bool, _ postscript: String = "no time"
  ) -> AnswerServerInvitation {
    AnswerServerInvitation(
      server, actor: actor ?? Actor(account: account), id: RequestID(.invitation, of: account, in: space),
      isAccepted: isAccepted, postscript: postscript)
  }
  static func apply(_ actor: Actor, _ postscript: String = "please") -> ApplyToServer {
    ApplyToServer(server, actor: actor, postscript: postscript)
  }
  static func answerApplication(
    of account: AccountID, by actor: Actor, _ isAccepted: Bool, _ postscript: String = "full"
  ) -> AnswerServerApplication {
    AnswerServerApplication(
      server, actor: actor, id: RequestID(.application, of: account, in: space), isAccepted: isAccepted,
      postscript: postscript)
  }
  static func createCode(_ actor: Actor) -> CreateInviteCode {
    CreateInviteCode(server, actor: actor, code: code)
  }
  static func revokeCode(_ actor: Actor) -> RevokeInviteCode {
    RevokeInviteCode(server, actor: actor, code: code)
  }
  static func join(_ actor: Actor) -> JoinByInviteCode {
    JoinByInviteCode(server, actor: actor, code: code, requestId: "r4")
  }
  static func announce(_ actor: Actor, _ type: Int, _ accounts: [AccountID]) -> AnnounceInServer {
    AnnounceInServer(
      server, actor: actor, type: type, accounts: accounts, channel: nil, attach: nil)
  }
  static func mute(_ actor: Actor, _ accounts: [AccountID], _ duration: Int64? = 60_000) -> SetServerMute {
    SetServerMute(server, actor: actor, accounts: accounts, durationMilliseconds: duration)
  }
  static func ban(_ actor: Actor, _ accounts: [AccountID]) -> BanAccounts {
    BanAccounts(server, actor: actor, accounts: accounts)
  }
  static func unban(_ actor: Actor, _ accounts: [AccountID]) -> UnbanAccounts {
    UnbanAccounts(server, actor: actor, accounts: accounts)
  }
  static func nick(_ actor: Actor, _ account: AccountID, _ nick: String = "bell") -> UpdateMember {
    var update = UpdateMember(server, actor: actor, account: account)
    update.nick = nick
    return update
  }
  static func admin(_ actor: Actor, _ account: AccountID, _ isAdmin: Bool = true) -> SetAdmin {
    SetAdmin(server, actor: actor, account: account, isAdmin: isAdmin)
  }
  static func handOver(_ actor: Actor, to account: AccountID) -> HandOverServer {
    HandOverServer(server, actor: actor, to: account)
  }
  static func subscribe(_ actor: Actor, to channels: [EntityID]) -> SubscribeToChannels {
    SubscribeToChannels(server, channels: channels, actor: actor, isSubscribed: true)
  }

  // MARK: Settings

  static let joinsByInvitation = settings { $0.inviteMode = .joinsAtOnce }
  static let needsApproval = settings { $0.applyMode = .needsApproval }
  static let membersMayInvite = settings { $0.membersMayInvite = true }

  private static func settings(_ change: (inout UpdateServer) -> Void) -> UpdateServer {
    var update = UpdateServer(server, actor: olivia)
    change(&update)
    return update
  }
}
