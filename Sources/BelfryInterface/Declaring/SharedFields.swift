package import BelfryModel

/// The fields and parameters that several routes share. Fields of a single resource are declared in the file of that
/// resource.
package enum SharedFields {
  /// The year 2001, in milliseconds since 1970. A smaller time probably is in seconds.
  package static let earliestMilliseconds: Int64 = 978_307_200_000

  // MARK: Paths

  package static let serverId = Field("serverId", .id, "the server").needed
  package static let channelId = Field("channelId", .id, "the channel").needed
  package static let groupId = Field("groupId", .id, "the group").needed
  package static let roomId = Field("roomId", .id, "the room").needed
  package static let accid = Field("accid", .account, "the account").needed
  package static let requestId = Field(
    "requestId", .requestName,
    "the id of the invitation or application, or the account that is invited or that applies"
  ).needed
  package static let token = Field(
    "token", .request, "the `token` in the invitation to the stage, notification 404"
  ).needed
  package static let code = Field("code", .code, "the invite code").needed
  package static let fileId = Field("fileId", .id, "the shared file").needed
  package static let messageServerId = Field("messageServerId", .message, "the notification").needed

  // MARK: Pages

  package static let limit = Field(
    "limit", .integer(1...Limits.pageMembersMaximum), "the maximum number of results"
  )
  .otherwise(Limits.pageMembers, .integer(Int64(Limits.pageMembers)))
  package static let blockedLimit = Field(
    "limit", .integer(1...Limits.pageMembersMaximum), "the maximum number of results"
  ).otherwise(200, 200)
  package static let cursor = Field("cursor", Kind<PageCursor>.cursor, "the previous page's `cursor`")

  // MARK: Headers

  package static let ifNoneMatch = Field(
    "If-None-Match", .text(bytes: 0...8_192), "the `ETag` of the client's copy")

  // MARK: Bodies

  package static let accids = Field("accids", .accounts(1...Limits.accountsPerCall), "the accounts").needed
  package static let name = Field("name", .text(characters: 1...Limits.nameCharacters), "its name")
  package static let description = Field(
    "description", .text(characters: 0...Limits.descriptionCharacters), "its description")
  package static let icon = Field("icon", .text(bytes: 0...Limits.iconBytes), "the URL of a picture")
  package static let ext = Field("ext", .text(bytes: 0...Limits.extBytes), "application data, usually JSON")
  package static let nick = Field(
    "nick", .text(characters: 0...Limits.nickCharacters), "the nick; empty for none")
  package static let avatar = Field(
    "avatar", .text(bytes: 0...Limits.iconBytes), "the URL of a picture; empty for none")
  package static let postscript = Field(
    "postscript", .text(characters: 0...Limits.messageCharacters), "a message to the person who decides")
  package static let answerPostscript = Field(
    "postscript", .text(characters: 0...Limits.messageCharacters), "a message to the account that asked")
  package static let unusedPostscript = Field(
    "postscript", .text(characters: 0...Limits.messageCharacters),
    "ignored, because only the notification of a decline or a refusal has a message")
  /// The names of the message that comes with an invitation, an application or the answer to one: spaces differ in them.
  package static let accompanyingNames = ["postscript", "reason", "message"]
  /// The names of the body of a notification in other systems. The name nearest to `text` would be `ext`.
  package static let bodyNamesElsewhere = ["text", "message", "content"]
  package static let muteDuration = Field(
    "durationSeconds", .integer(1...Int(Limits.muteMaximumMilliseconds / 1_000)), "the duration in seconds")
}
