package import BelfryModel

/// The members of a server.
package enum MemberRoutes {
  package static let all: [Route] = [
    list.route, add.route, show.route, update.route, remove.route, removeMany.route,
  ]

  private static let members = ServerRoutes.server + "/members"
  private static let serverId = SharedFields.serverId
  private static let accid = SharedFields.accid

  // MARK: Fields and shapes

  private static let added = Field("accids", .accounts(1...Limits.membersPerCall), "the accounts to add")
    .needed

  private static let properties: [Property] = [
    .always("accid", .account, "the member"),
    .always("role", .choice(MemberRole.self), "the role in the server"),
    .always("subscribed", .flag, "whether the member is subscribed to the server's own notifications"),
  ]
  private static let profileProperties: [Property] = [
    .sometimes("nick", .text, "the nick in the server"), .sometimes("avatar", .text, "a picture"),
    .sometimes("ext", .text, "application data, set by the member"),
  ]
  private static let shape = Shape.resource("Member", properties)
  private static let shapeWithProfile = Shape.resource("MemberWithProfile", properties + profileProperties)
  private static let addedShape = Shape.resource(
    "AddedMembers", [.always("added", .list(.account), "the accounts that were not members yet")])
  private static let profile = Shape.resource(
    "Profile", [.always("accid", .account, "the member")] + profileProperties)

  // MARK: Rows

  package static let list = endpoint(
    .get, members, .token, "member list", "List a server's members", path: serverId,
    query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember],
    answers: .ok(.page("members", of: shape, "in no particular order")),
    options: RouteOptions(otherCommands: ["server members"]))
  package static let add = endpoint(
    .post, members, .trusted, "member add", "Add many accounts to a server, without asking them",
    path: serverId, body: added, operation: AddMembers.self, refusals: [.tooMany, .banned],
    answers: .ok(addedShape), options: RouteOptions(done: "added members"))
  package static let show = endpoint(
    .get, members + "/{accid}", .token, "member show", "Show a member of a server and their profile",
    path: serverId, accid, refusals: [.notMember], answers: .ok(shapeWithProfile),
    options: RouteOptions(accountMayBeLeftOut: true))
  package static let update = endpoint(
    .patch, members + "/{accid}", .token, "member update", "Change a member's profile in a server",
    path: serverId, accid, body: SharedFields.nick, SharedFields.avatar, SharedFields.ext,
    operation: UpdateMember.self,
    answers: .ok(profile),
    options: RouteOptions(
      done: "changed the profile", accountMayBeLeftOut: true, example: ["nick": "Bobby"]))
  package static let remove = endpoint(
    .delete, members + "/{accid}", .token, "member remove",
    "Remove a member from a server (its owner and admins only), or leave it",
    path: serverId, accid, refusals: [.notMember, .conflict],
    options: RouteOptions(
      otherCommands: ["server remove-member"], done: "removed the member", question: "Remove the member",
      ownCommand: .leaving("server leave", "Leave a server", done: "left the server")))
  package static let removeMany = endpoint(
    .delete, members, .token, "member remove-many",
    "Remove members from a server (its owner and admins only)", path: serverId,
    body: SharedFields.accids, operation: KickMembers.self,
    options: RouteOptions(done: "removed the members", question: "Remove the members"))
}
