import BelfryModel
import BelfryStore

extension Routes {
  private static let path = "/v1/servers/{serverId}/channels/{channelId}"

  /// Who is in a channel, on its lists, and silent in it.
  static let channelMembers: [Route] = roster + invitations + channelLists + mutes

  private static let roster: [Route] = [
    Route(
      .post, path + "/members", .token, "channel join", "Join a channel",
      refusals: [.banned, .tooMany],
      .operation { ask throws(Refusal) in
        JoinChannel(try ask.server, id: try ask.channel, actor: try ask.actor)
      }),
    Route(
      .get, path + "/members", .token, "channel members", "List who is in a channel's roster",
      query: SharedFields.page, refusals: [.notMember],
      .reply(.ok(.page("accids", of: .account, "in no particular order")), by: ChannelLooks.members)),
    Route(
      .get, path + "/members/{accid}", .token, "channel member", "Say whether an account is in a channel",
      refusals: [.notMember],
      .reply(.ok(ChannelLooks.membership), by: ChannelLooks.member)),
    Route(
      .delete, path + "/members/{accid}", .token, "channel exit",
      "Leave a channel, when it is oneself; put a member out, as the server's owner or an admin",
      refusals: [.notMember, .banned, .conflict],
      .reply(.noContent, by: ChannelLooks.remove)),
  ]

  private static let invitations: [Route] = [
    Route(
      .post, path + "/invitations", .token, "channel invite", "Invite members of the server into a channel",
      body: .json(SharedFields.accids, SharedFields.postscript), refusals: [.banned, .tooMany, .blocked],
      .operation(.ok(ChannelLooks.invited), ChannelLooks.invite, ChannelLooks.show)),
    answer("accept", "channel accept", "Accept an invitation into a channel", true),
    answer("decline", "channel decline", "Decline an invitation into a channel", false),
  ]

  private static func answer(
    _ word: String, _ name: String, _ summary: String, _ isAccepted: Bool
  ) -> Route {
    Route(
      .post, path + "/invitations/{requestId}/\(word)", .token, name, summary,
      body: .optional(SharedFields.postscript), refusals: [.banned, .tooMany],
      .operation { ask throws(Refusal) in
        AnswerChannelInvitation(
          try ask.server, id: try ask.channel, request: try ask[SharedFields.requestId], actor: try ask.actor,
          isAccepted: isAccepted, postscript: try ask[SharedFields.postscript])
      })
  }

  private static let channelLists: [Route] =
    list(.allow, "allow-list", "allow", "Let members see and join a private channel")
    + list(.block, "block-list", "block", "Keep members out of a channel")

  /// Adding to a list, removing from it, and the list.
  private static func list(
    _ list: ChangeChannelList.List, _ word: String, _ name: String, _ adding: String
  ) -> [Route] {
    [
      Route(
        .post, path + "/\(word)", .token, "channel \(name)", adding, body: .json(SharedFields.accids),
        refusals: [.tooMany],
        .operation { ask throws(Refusal) in
          try ChannelLooks.change(list, ask, adds: true, try ask[SharedFields.accids])
        }),
      Route(
        .delete, path + "/\(word)/{accid}", .token, "channel un\(name)",
        "Take an account off a channel's \(word)", refusals: [.tooMany],
        .operation { ask throws(Refusal) in
          try ChannelLooks.change(list, ask, adds: false, [try ask.account])
        }),
      Route(
        .get, path + "/\(word)", .token, "channel \(name)ed", "List the accounts on a channel's \(word)",
        query: SharedFields.page, refusals: [.notMember],
        .listing(
          "accids", of: .account, "in no particular order", for: { (_: ServerRecord) in .administrators },
          { ask throws(Refusal) in TableAddress(.server(try ask.server), list.table(of: try ask.channel)) },
          Listed.account)),
    ]
  }

  private static let mutes: [Route] = [
    Route(
      .post, path + "/mutes", .token, "channel mute", "Keep members from sending to a channel for a while",
      body: .json(SharedFields.accids, Groups.duration.needed), refusals: [.tooMany],
      .operation { ask throws(Refusal) in
        MuteInChannel(
          try ask.server, id: try ask.channel, actor: try ask.actor, accounts: try ask[SharedFields.accids],
          durationMilliseconds: Int64(try ask[Groups.duration.needed]) * 1_000)
      }),
    Route(
      .delete, path + "/mutes/{accid}", .token, "channel unmute",
      "Let a muted member send to a channel again",
      .operation { ask throws(Refusal) in
        UnmuteInChannel(
          try ask.server, id: try ask.channel, actor: try ask.actor, accounts: [try ask.account])
      }),
    Route(
      .get, path + "/mutes", .token, "channel muted", "List who is muted in a channel",
      query: SharedFields.page,
      refusals: [.notMember],
      .listing(
        "muted", of: Listed.muted, "in no particular order", for: { (_: ServerRecord) in .administrators },
        { ask throws(Refusal) in TableAddress(.server(try ask.server), .channelMuted(try ask.channel)) },
        Listed.muted)),
  ]
}
