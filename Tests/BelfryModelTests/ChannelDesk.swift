import BelfryModel
import ModelSamples

/// The server of ``ServerDesk`` with an account of every kind that a channel knows, in its channels 10 (the
/// default one), 11 (public, with a roster), 12 (private) and 13 (everyone's):
/// `cleo` is in the rosters; `meg` too, and muted everywhere; `ben` is blocked, but in the default channel;
/// `ann` is on the allow lists; `ida` is invited by cleo; `pia` is none of these; `fay` was in the rosters,
/// allow-listed and muted, and is no longer on the server.
enum ChannelDesk {
  static let server = ServerDesk.server
  static let space = ServerDesk.space
  static let app = ServerDesk.app
  static let muteMilliseconds: Int64 = 60_000

  static func desk() throws -> Desk {
    var desk = try ServerDesk().desk
    for step in history { _ = try desk.carryOut(step) }
    return desk
  }

  private static let history: [any Operation] =
    [
      AddMembers(
        server, actor: app, accounts: ["cleo", "meg", "ben", "ann", "ida", "pia", "fay"], requestId: "r3")
    ]
    + [11, 12].flatMap { id -> [any Operation] in
      (["cleo", "meg", "ben", "fay"] as [AccountID]).map { joinAsApp(id, $0) as any Operation }
        + [invite(id, "cleo", ["ida"]) as any Operation]
    }
    + [10, 11, 12, 13].map { mute($0, app, ["meg", "fay"]) as any Operation }
    + [11, 12, 13].flatMap { id -> [any Operation] in
      [list(id, app, .block, ["ben"]), list(id, app, .allow, ["ann", "fay"])]
    }
    + [RefusalTests.kick(app, ["fay"])]

  // MARK: The operations of the tables

  static func join(_ id: EntityID, _ account: AccountID) -> JoinChannel {
    JoinChannel(server, id: id, actor: Actor(account: account))
  }
  static func joinAsApp(_ id: EntityID, _ account: AccountID) -> JoinChannel {
    JoinChannel(server, id: id, actor: Actor(account: account, isTrusted: true))
  }
  static func leave(_ id: EntityID, _ account: AccountID) -> LeaveChannel {
    LeaveChannel(server, id: id, actor: Actor(account: account))
  }
  static func invite(_ id: EntityID, _ account: AccountID, _ accounts: [AccountID]) -> InviteToChannel {
    InviteToChannel(server, id: id, actor: Actor(account: account), accounts: accounts, postscript: "come")
  }
  static func request(_ id: EntityID, _ account: AccountID) -> RequestID {
    RequestID(.channelInvitation, of: account, in: space, channel: id)
  }
  static func answer(_ id: EntityID, _ account: AccountID, accepts: Bool) -> AnswerChannelInvitation {
    AnswerChannelInvitation(
      server, id: id, request: request(id, account), actor: Actor(account: account), isAccepted: accepts,
      postscript: nil)
  }
  static func remove(_ id: EntityID, _ actor: Actor, _ accounts: [AccountID]) -> RemoveFromChannel {
    RemoveFromChannel(server, id: id, actor: actor, accounts: accounts)
  }
  static func list(
    _ id: EntityID, _ actor: Actor, _ list: ChangeChannelList.List, adds: Bool = true, _ accounts: [AccountID]
  ) -> ChangeChannelList {
    ChangeChannelList(server, id: id, actor: actor, list: list, adds: adds, accounts: accounts)
  }
  static func mute(
    _ id: EntityID, _ actor: Actor, _ accounts: [AccountID], milliseconds: Int64 = muteMilliseconds
  ) -> MuteInChannel {
    MuteInChannel(server, id: id, actor: actor, accounts: accounts, durationMilliseconds: milliseconds)
  }
  static func unmute(_ id: EntityID, _ actor: Actor, _ accounts: [AccountID]) -> UnmuteInChannel {
    UnmuteInChannel(server, id: id, actor: actor, accounts: accounts)
  }
  static func rename(_ id: EntityID, _ actor: Actor) -> UpdateChannel {
    var update = UpdateChannel(server, id: id, actor: actor)
    update.channelName = "new"
    return update
  }
  static func close(_ id: EntityID, _ actor: Actor) -> RemoveChannel {
    RemoveChannel(server, id: id, actor: actor)
  }
}
