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

  private static let added = Field("accids", .accounts(1...Limits.membersPerCall), "whom to add").needed

  private static let properties: [Property] = [
    .always("accid", .account, "who"),
    .always("role", .choice(MemberRole.self), "what they are in the server"),
    .always("subscribed", .flag, "whether they subscribed to the server's own notifications"),
  ]
  private static let profileProperties: [Property] = [
    .sometimes("nick", .text, "what they are called there"), .sometimes("avatar", .text, "a picture"),
    .sometimes("ext", .text, "anything they put there"),
  ]
  private static let shape = Shape.resource("Member", properties)
  private static let shapeWithProfile = Shape.resource("MemberWithProfile", properties + profileProperties)
  private static let addedShape = Shape.resource(
    "AddedMembers", [.always("added", .list(.account), "those who were no members yet")])
  private static let profile = Shape.resource(
    "Profile", [.always("accid", .account, "who")] + profileProperties)

  // MARK: Rows

  package static let list = endpoint(
    .get, members, .token, "member list", "List a server's members", path: serverId,
    query: SharedFields.limit, SharedFields.cursor, refusals: [.notMember],
    answers: .ok(.page("members", of: shape, "in no particular order")))
  package static let add = endpoint(
    .post, members, .trusted, "member add", "Add many accounts at once, with nobody's consent",
    path: serverId, body: added, operation: AddMembers.self, refusals: [.tooMany, .banned],
    answers: .ok(addedShape))
  package static let show = endpoint(
    .get, members + "/{accid}", .token, "member show", "Show a member of a server, and their profile",
    path: serverId, accid, refusals: [.notMember], answers: .ok(shapeWithProfile))
  package static let update = endpoint(
    .patch, members + "/{accid}", .token, "member update", "Change what is shown of a member",
    path: serverId, accid, body: SharedFields.nick, SharedFields.avatar, SharedFields.ext,
    operation: UpdateMember.self,
    answers: .ok(profile))
  package static let remove = endpoint(
    .delete, members + "/{accid}", .token, "member remove",
    "Leave a server, when it is oneself; put a member out, as its owner or an admin",
    path: serverId, accid, refusals: [.notMember, .conflict],
    options: RouteOptions(done: "no longer a member"))
  package static let removeMany = endpoint(
    .delete, members, .token, "member remove-many",
    "Put members out of a server together, as its owner or an admin", path: serverId,
    body: SharedFields.accids, operation: KickMembers.self)
}
