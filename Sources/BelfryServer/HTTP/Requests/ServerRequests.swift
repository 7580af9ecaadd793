import BelfryModel

/// The body that makes a server.
struct CreateServerRequest {
  var name: String
  var settings: ServerSettings

  init(_ fields: consuming Fields) throws(Refusal) {
    name = try fields.needed(try fields.name("name"), "name")
    settings = try ServerSettings(&fields)
    try fields.finish()
  }
}

/// The body that changes a server. What is left out stays; an empty `icon` or `ext` clears it.
struct UpdateServerRequest {
  var name: String?
  var settings: ServerSettings

  init(_ fields: consuming Fields) throws(Refusal) {
    name = try fields.name("name")
    settings = try ServerSettings(&fields)
    try fields.finish()
  }
}

struct ServerSettings {
  var icon: String?
  var ext: String?
  var inviteMode: InviteMode?
  var applyMode: ApplyMode?

  fileprivate init(_ fields: inout Fields) throws(Refusal) {
    icon = try fields.text("icon")
    ext = try fields.text("ext")
    inviteMode = try fields.choice("inviteMode", InviteMode.self)
    applyMode = try fields.choice("applyMode", ApplyMode.self)
    try NotificationContent.check(icon, "icon", bytes: 0...Limits.iconBytes)
    try NotificationContent.check(ext, "ext", bytes: 0...Limits.extBytes)
  }
}

struct AddMembersRequest {
  var accounts: [AccountID]

  init(_ fields: consuming Fields) throws(Refusal) {
    accounts = try fields.needed(
      try fields.accounts("accids", counts: 1...Limits.membersPerCall), "accids")
    try fields.finish()
  }
}

extension Fields {
  /// What people call a server or a channel.
  mutating func name(_ field: String) throws(Refusal) -> String? {
    guard let name = try text(field) else { return nil }
    guard !name.isEmpty else { throw .invalid(path(of: field), "must not be empty") }
    try NotificationContent.check(name, path(of: field), characters: Limits.nameCharacters)
    return name
  }
}
