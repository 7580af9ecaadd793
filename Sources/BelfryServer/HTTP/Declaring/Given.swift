import BelfryModel
import BelfryStore

/// The fields and parameters that several routes share; what only one resource knows stands with it.
enum SharedFields {
  // MARK: Paths

  static let serverId = Field("serverId", .id, "the server").needed
  static let channelId = Field("channelId", .id, "the channel").needed
  static let groupId = Field("groupId", .id, "the group").needed
  static let roomId = Field("roomId", .id, "the room").needed
  static let accid = Field("accid", .account, "the account").needed
  static let requestId = Field("requestId", .request, "the invitation or application").needed
  static let token = Field("token", .request, "the invitation on stage").needed
  static let code = Field("code", .code, "the invite code").needed
  static let fileId = Field("fileId", .id, "the shared file").needed
  static let keyId = Field("keyId", .id, "the key").needed
  static let messageServerId = Field("messageServerId", .message, "the notification").needed

  /// What can stand in a path.
  static let inPaths: [any DeclaredField] = [
    serverId, channelId, groupId, roomId, accid, requestId, token, code, fileId, messageServerId, keyId,
  ]

  // MARK: Pages

  static let limit = Field("limit", .integer(1...Limits.pageMembersMaximum), "how many at most")
    .otherwise(Limits.pageMembers, .integer(Int64(Limits.pageMembers)))
  static let cursor = Field("cursor", Kind<PageCursor>.cursor, "the cursor of the page before")
  static let page: [any DeclaredField] = [limit, cursor]

  // MARK: Bodies

  static let accids = Field("accids", .accounts(1...Limits.accountsPerCall), "the accounts").needed
  static let name = Field("name", .text(characters: 1...Limits.nameCharacters), "what people call it")
  static let description = Field(
    "description", .text(characters: 0...Limits.descriptionCharacters), "what it is for")
  static let icon = Field("icon", .text(bytes: 0...Limits.iconBytes), "a picture, by URL")
  static let ext = Field("ext", .text(bytes: 0...Limits.extBytes), "anything; JSON is customary")
  static let postscript = Field(
    "postscript", .text(characters: 0...Limits.messageCharacters), "a few words to whoever decides")
}
