import BelfryModel
import BelfryStore

enum Groups {
  static let style = Field("style", Kind<GroupStyle>.choice, "how one gets in, and who finds it")
  static let inviteNeedConfirm = Field(
    "inviteNeedConfirm", .flag, "whether invitees are asked; otherwise they are in at once")
  static let maxMembers = Field("maxMembers", .integer(1...1_000_000), "how many members it takes")
  static let invitees = Field("invitees", .accounts(1...Limits.accountsPerCall), "whom to invite at once")
  static let reason = Field("reason", .text(characters: 0...Limits.messageCharacters), "why, in a few words")
  static let message = Field(
    "message", .text(characters: 0...Limits.messageCharacters), "a few words to the invitees")
  static let announcement = Field(
    "announcement", .text(characters: 0...Limits.announcementCharacters), "empty for none")
  static let duration = Field(
    "durationSeconds", .integer(1...Int(Limits.muteMaximumMilliseconds / 1_000)), "for how long")
  static let attributes = Field(
    "attributes", .texts,
    "texts by name; what is not named stays, an empty one goes "
      + "(all together at most \(Limits.attributesBytes) bytes of JSON)"
  ).needed
  static let url = Field("url", .text(bytes: 1...Limits.urlBytes), "where the file lies")
  static let size = Field("size", .integer(0...Int(Int64.max >> 10)), "bytes")
  static let fileName = Field("name", .text(characters: 1...Limits.nameCharacters), "what the file is called")
  static let withMembers = Field("members", .flag, "whether to list up to 200 members, too")

  static let shape = Shape.resource("Group", properties)
  static let member = Shape.resource(
    "GroupMember",
    [
      .always("accid", .account, "who"),
      .always("role", .choice(MemberRole.self), "what they are in the group"),
    ])
  static let shapeWithMembers = Shape.resource(
    "GroupWithMembers", properties + [.sometimes("members", .list(member), "up to 200 of them")])
  static let invited = Shape.resource(
    "GroupInvitations",
    [
      .always("joined", .list(.account), "who was not asked and is in"),
      .always(
        "asked",
        .list(
          .object([
            .always("accid", .account, "who"), .always("requestId", .id, "what they answer with"),
          ])), "who is asked"),
    ])
  static let created = Shape.resource(
    "CreatedGroup", properties + [.always("invitations", invited, "what became of the invitees")])
  static let file = Shape.resource(
    "GroupFile",
    [
      .always("fileId", .id, "its id"), .always("name", .text, "what it is called"),
      .always("url", .text, "where it lies"), .always("size", .count, "bytes"),
      .always("owner", .orNull(.account), "who shared it"), .always("createTime", .time, "when"),
    ])
  static let applied = Shape.object([
    .always("joined", .flag, "whether the account is in"),
    .sometimes("requestId", .id, "what the owner or an admin decides on"),
  ])

  private static let properties: [Property] = [
    .always("groupId", .id, "its id"),
    .always("name", .text, "what people call it"),
    .always("owner", .account, "whom it belongs to"),
    .always("style", .choice(GroupStyle.self), "how one gets in, and who finds it"),
    .always("createTime", .time, "when it was created"),
    .always("inviteNeedConfirm", .flag, "whether invitees are asked"),
    .always("maxMembers", .count, "how many members it takes"),
    .always("isAllMuted", .flag, "whether only the allow-listed, the owner and the admins may send"),
    .sometimes("memberCount", .count, "how many members it has"),
    .sometimes("role", .choice(MemberRole.self), "what the account is in it"),
    .sometimes("description", .text, "what it is for"),
    .sometimes("ext", .text, "anything its owner put there"),
  ]

  // MARK: Making and changing

  static func create(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let caller = try request.known()
    var operation = CreateGroup(
      id: .random(), owner: try caller.account(), actor: caller.actor,
      name: try request[SharedFields.name.needed], style: try request[style.needed])
    operation.description = try request[SharedFields.description]
    operation.ext = try request[SharedFields.ext]
    operation.inviteNeedConfirm = try request[inviteNeedConfirm] ?? true
    operation.maxMembers = try request[maxMembers]
    operation.invitees = try request[invitees] ?? []
    operation.reason = try request[reason]
    let invitations = try await services.runner.run(operation).output
    let space = operation.space
    let records = try await reading { () async throws(StoreError) in
      try await services.store.records([.settings(space)])
    }
    let group = try records.settings(GroupRecord.self, space)
    let info = group.info(space).with([
      "memberCount": .integer(Int64(invitations.joined.count + 1)), "invitations": invitations.info,
    ])
    return .json(info, status: 201).located(at: "/v1/groups/\(space.name)")
  }

  static func update(_ request: Request) throws(Refusal) -> UpdateGroup {
    var operation = UpdateGroup(try request.group, actor: try request.actor)
    operation.groupName = try request[SharedFields.name]
    operation.description = try request[SharedFields.description]
    operation.ext = try request[SharedFields.ext]
    operation.inviteNeedConfirm = try request[inviteNeedConfirm]
    operation.maxMembers = try request[maxMembers]
    return operation
  }

  /// Putting oneself out is leaving; anybody else, removing.
  static func removeMember(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let (group, account, actor) = (try request.group, try request.account, try request.actor)
    if account == actor.account {
      _ = try await services.runner.run(LeaveGroup(group, actor: actor))
    } else {
      _ = try await services.runner.run(RemoveGroupMembers(group, actor: actor, accounts: [account]))
    }
    return .noContent
  }

  static func attributes(_ request: Request) throws(Refusal) -> SetMemberAttributes {
    SetMemberAttributes(
      try request.group, actor: try request.actor, account: try request.account,
      attributes: try request[attributes])
  }

  static func addFile(_ request: Request) throws(Refusal) -> AddGroupFile {
    AddGroupFile(
      try request.group, id: .random(), actor: try request.actor, name: try request[fileName.needed],
      url: try request[url.needed], sizeBytes: Int64(try request[size.needed]))
  }

  static func mute(_ request: Request, _ accounts: [AccountID], seconds: Int?) throws(Refusal) -> SetGroupMute
  {
    SetGroupMute(
      try request.group, actor: try request.actor, accounts: accounts,
      durationMilliseconds: seconds.map { Int64($0) * 1_000 })
  }
}

extension GroupInvitations {
  var info: JSONValue {
    [
      "joined": .accids(joined),
      "asked": .array(
        asked.map { ["accid": .string($0.account.text), "requestId": .string($0.request.text)] }),
    ]
  }
}

extension JSONValue {
  /// The same object with more in it.
  func with(_ members: JSONObject) -> JSONValue {
    guard case .object(let own) = self else { return self }
    return .object(own.merging(members))
  }
}
