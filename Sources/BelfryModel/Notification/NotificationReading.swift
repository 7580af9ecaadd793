// A notification's content out of a log. Not by Foundation's decoder: in `attach` and `pushPayload` callers choose the
// names, and it hashes them as strings, for every entry of a page.

extension NotificationContent {
  /// Nil if it is nothing that ``text`` writes.
  package init?(json: ArraySlice<UInt8>) {
    guard case .object(let fields)? = try? JSONParser.value(of: Array(json)),
      case .integer(let type)? = fields["type"], case .integer(let kind)? = fields["toType"],
      let toType = ToType(rawValue: Int(kind))
    else { return nil }
    self.init(type: Int(type), toType: toType)
    do throws(Unreadable) {
      try readPlace(fields)
      try readSender(fields)
      try readSubstance(fields)
    } catch {
      return nil
    }
  }

  private mutating func readPlace(_ fields: JSONObject) throws(Unreadable) {
    serverId = try fields.value("serverId", EntityID.init(text:))
    channelId = try fields.value("channelId", EntityID.init(text:))
    groupId = try fields.value("groupId", EntityID.init(text:))
    roomId = try fields.value("roomId", EntityID.init(text:))
    guard let named = fields.given("toAccids") else { return }
    guard case .array(let values) = named else { throw Unreadable() }
    var accounts: [AccountID] = []
    for value in values {
      guard case .string(let text) = value, let account = AccountID(text) else { throw Unreadable() }
      accounts.append(account)
    }
    toAccids = accounts
  }

  private mutating func readSender(_ fields: JSONObject) throws(Unreadable) {
    fromAccount = try fields.value("fromAccount", AccountID.init(_:))
    fromNick = try fields.text("fromNick")
    if let value = fields.given("fromClientType") {
      guard let type = ClientType(value) else { throw Unreadable() }
      fromClientType = type
    }
    fromDeviceId = try fields.value("fromDeviceId", DeviceID.init(_:))
    messageClientId = try fields.text("messageClientId")
  }

  private mutating func readSubstance(_ fields: JSONObject) throws(Unreadable) {
    body = try fields.text("body")
    ext = try fields.text("ext")
    attach = fields.given("attach")
    pushPayload = fields.given("pushPayload")
    pushContent = try fields.text("pushContent")
    env = try fields.text("env")
    callbackExt = try fields.text("callbackExt")
    expireAt = try fields.time("expireAt")
    appendedAt = try fields.time("time")
    if let value = fields.given("status") {
      guard case .integer(let number) = value else { throw Unreadable() }
      status = Int(number)
    }
    guard let value = fields.given("setting") else { return }
    guard case .object(let flags) = value else { throw Unreadable() }
    setting = try NotificationSetting(flags)
  }
}

extension NotificationSetting {
  fileprivate init(_ flags: JSONObject) throws(Unreadable) {
    self.init()
    persistEnable = try flags.flag("persistEnable") ?? persistEnable
    pushEnable = try flags.flag("pushEnable") ?? pushEnable
    needBadge = try flags.flag("needBadge") ?? needBadge
    needPushNick = try flags.flag("needPushNick") ?? needPushNick
    routeEnable = try flags.flag("routeEnable") ?? routeEnable
  }
}

/// A field is not what it is written as.
private struct Unreadable: Error {}

extension JSONObject {
  /// Null is as good as absent.
  fileprivate func given(_ name: String) -> JSONValue? {
    if case .null? = self[name] { nil } else { self[name] }
  }

  fileprivate func text(_ name: String) throws(Unreadable) -> String? {
    guard let value = given(name) else { return nil }
    guard case .string(let text) = value else { throw Unreadable() }
    return text
  }

  fileprivate func value<Value>(_ name: String, _ read: (String) -> Value?) throws(Unreadable) -> Value? {
    guard let text = try text(name) else { return nil }
    guard let value = read(text) else { throw Unreadable() }
    return value
  }

  /// Milliseconds since 1970.
  fileprivate func time(_ name: String) throws(Unreadable) -> Int64? {
    guard let value = given(name) else { return nil }
    guard case .integer(let time) = value else { throw Unreadable() }
    return time
  }

  fileprivate func flag(_ name: String) throws(Unreadable) -> Bool? {
    guard let value = given(name) else { return nil }
    guard case .bool(let flag) = value else { throw Unreadable() }
    return flag
  }
}

extension EntityID {
  fileprivate init?(text: String) { self.init(text) }
}
