/// The profile of a member of a server. An empty profile has no record.
package struct ProfileRecord: Sendable, Hashable, Codable {
  package var nick: String?
  package var avatar: String?
  package var ext: String?

  package init(nick: String? = nil, avatar: String? = nil, ext: String? = nil) {
    self.nick = nick
    self.avatar = avatar
    self.ext = ext
  }

  func checkLimits() throws(Refusal) {
    try NotificationContent.check(nick, "nick", characters: Limits.nickCharacters)
    try NotificationContent.check(avatar, "avatar", bytes: 0...Limits.iconBytes)
    try NotificationContent.check(ext, "ext", bytes: 0...Limits.extBytes)
  }

  /// `memberInfo` of the attachments, and, without the role, what HTTP shows of a profile.
  package func info(_ account: AccountID, _ role: MemberRole? = nil) -> JSONValue {
    var info: JSONObject = ["accid": .string(account.text)]
    if let role { info["role"] = .string(role.rawValue) }
    return .object(info.merging(texts))
  }

  /// The texts of the profile, by the wire's names.
  package var texts: JSONObject {
    var texts: JSONObject = [:]
    if let nick { texts["nick"] = .string(nick) }
    if let avatar { texts["avatar"] = .string(avatar) }
    if let ext { texts["ext"] = .string(ext) }
    return texts
  }
}

extension Records {
  package func profile(_ account: AccountID, in space: SpaceID) throws(Refusal) -> ProfileRecord {
    try json(ProfileRecord.self, .profile(account, in: space)) ?? ProfileRecord()
  }
}
