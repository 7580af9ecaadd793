import BelfryModel
import BelfryStore

/// How one gets into a server, and is kept out of it.
enum Admissions {
  static let admission = Shape.resource(
    "Admission",
    [
      .always("accid", .account, "who"), .always("requestId", .id, "what it is answered with"),
      .always("joined", .flag, "whether the account is in; otherwise the request waits"),
    ])
  static let invited = Shape.object([.always("invitations", .list(admission), "one for each invitee")])
  static let applied = Shape.object([
    .always("requestId", .id, "what it is answered with"),
    .always("joined", .flag, "whether the account is in; otherwise the application waits"),
  ])
  static let code = Shape.resource(
    "InviteCode",
    [.always("code", .text, "whoever knows it gets in"), .always("expiresAt", .time, "until when")])
  static let nick = Field("nick", .text(characters: 0...Limits.nickCharacters), "empty for none")
  static let avatar = Field("avatar", .text(bytes: 0...Limits.iconBytes), "a picture, by URL; empty for none")
  static let profile = Shape.resource(
    "Profile",
    [
      .always("accid", .account, "who"),
      .sometimes("nick", .text, "what they are called there"), .sometimes("avatar", .text, "a picture"),
      .sometimes("ext", .text, "anything they put there"),
    ])

  static func invite(_ request: Request) throws(Refusal) -> InviteToServer {
    InviteToServer(
      try request.server, actor: try request.actor, accounts: try request[SharedFields.accids],
      postscript: try request[SharedFields.postscript] ?? "", requestId: EntityID.random().text)
  }

  static func show(_ operation: InviteToServer, _ admissions: InviteToServer.Output) -> Reply {
    let invitations = operation.accounts.compactMap { account in
      admissions[account].map { admission -> JSONValue in
        [
          "accid": .string(account.text), "requestId": .string(admission.requestId),
          "joined": .bool(admission.hasJoined),
        ]
      }
    }
    return .json(["invitations": .array(invitations)])
  }

  static func createCode(_ request: Request) throws(Refusal) -> CreateInviteCode {
    CreateInviteCode(try request.server, actor: try request.actor, code: .random())
  }

  static func code(_ field: String, _ text: String, _ now: Int64) -> JSONValue? {
    guard let record = ExpiringText(text: text), record.expiresAtMilliseconds > now else { return nil }
    return ["code": .string(field), "expiresAt": .integer(record.expiresAtMilliseconds)]
  }

  static func updateMember(_ request: Request) throws(Refusal) -> UpdateMember {
    var operation = UpdateMember(
      try request.server, actor: try request.actor, account: try request.account)
    operation.nick = try request[nick]
    operation.avatar = try request[avatar]
    operation.ext = try request[SharedFields.ext]
    return operation
  }

  static func setAdmin(_ request: Request, _ isAdmin: Bool) throws(Refusal) -> SetAdmin {
    SetAdmin(try request.server, actor: try request.actor, account: try request.account, isAdmin: isAdmin)
  }
}
