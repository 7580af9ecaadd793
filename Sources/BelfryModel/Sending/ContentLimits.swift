// The limits of a custom notification. Each check names the field in the wire's spelling.

extension NotificationContent {
  /// The limits on the fields a sender may set.
  package func checkLimits() throws(Refusal) {
    try Self.check(messageClientId, "messageClientId", bytes: 1...Limits.messageClientIdBytes)
    try Self.check(fromNick, "fromNick", characters: Limits.nickCharacters)
    try Self.check(fromClientType)
    try Self.check(body, "body", bytes: 0...Limits.bodyBytes)
    try Self.check(ext, "ext", bytes: 0...Limits.extBytes)
    try Self.check(pushContent, "pushContent", characters: Limits.pushContentCharacters)
    try Self.check(env, "env", bytes: 0...Limits.envBytes)
    try Self.check(callbackExt, "callbackExt", bytes: 0...Limits.callbackExtBytes)
    try Self.check(attach, "attach", jsonBytes: Limits.attachBytes)
    try Self.check(pushPayload, "pushPayload", jsonBytes: Limits.pushPayloadBytes)
    if let pushPayload, case .object = pushPayload {
    } else if pushPayload != nil {
      throw .invalid("pushPayload", "must be a JSON object, or text that holds one")
    }
    try Self.check(status: status)
    guard type == Catalogue.custom.code else {
      throw .invalid(
        "type",
        "must be \(Catalogue.custom.code): the other types come only from operations and announcements")
    }
    if expireAt != nil, !setting.persistEnable {
      throw .invalid(
        "expireAt", "cannot be combined with setting.persistEnable false: such a notification is not stored")
    }
    try checkReceivers()
  }

  /// An object, or text that holds one; either way receivers get the object.
  package static func pushPayload(_ given: JSONValue) throws(Refusal) -> JSONValue {
    guard case .string(let text) = given else { return given }
    try check(text, "pushPayload", bytes: 1...Limits.pushPayloadBytes)
    do throws(Refusal) {
      return try JSONParser.value(of: Array(text.utf8))
    } catch {
      throw .invalid("pushPayload", "must be a JSON object, or text that holds one")
    }
  }

  /// The values of `status` that a sender may set, in addition to 0.
  package static let customStatus = 10_001...Int(Int32.max)

  package static func check(status: Int) throws(Refusal) {
    guard status == 0 || customStatus.contains(status) else {
      throw .invalid(
        "status", "must be 0, or more than 10000 and at most \(Int32.max); 1 to 10000 are reserved")
    }
  }

  private static func check(_ clientType: ClientType?) throws(Refusal) {
    switch clientType {
    case .text(let text): try check(text, "fromClientType", bytes: 0...Limits.clientTypeBytes)
    case .number(let number) where !ClientType.numbers.contains(number):
      throw .invalid("fromClientType", "must be a string, or a number from 0 to \(Int32.max)")
    case .number, nil: break
    }
  }

  private func checkReceivers() throws(Refusal) {
    guard let toAccids else { return }
    guard (1...Limits.namedReceivers).contains(toAccids.count) else {
      throw .invalid("toAccids", "must name 1 to \(Limits.namedReceivers) accounts, not \(toAccids.count)")
    }
    var seen: Set<AccountID> = []
    for (index, account) in toAccids.enumerated() where !seen.insert(account).inserted {
      throw .invalid("toAccids[\(index)]", "must name each account once: \(account) occurs twice")
    }
  }

  package static func check(_ text: String?, _ field: String, bytes: ClosedRange<Int>) throws(Refusal) {
    guard let text else { return }
    guard text.utf8.count <= bytes.upperBound else {
      throw .invalid(field, "must be at most \(bytes.upperBound) bytes of UTF-8, not \(text.utf8.count)")
    }
    guard text.utf8.count >= bytes.lowerBound else { throw .invalid(field, "must not be empty") }
  }

  /// Characters are Unicode scalars: a character as people see it has no limit of its own, and a letter may
  /// carry a megabyte of accents.
  package static func check(_ text: String?, _ field: String, characters: Int) throws(Refusal) {
    guard let count = text?.unicodeScalars.count, count > characters else { return }
    throw .invalid(field, "must be at most \(characters) characters, not \(count)")
  }

  package static func check(_ value: JSONValue?, _ field: String, jsonBytes: Int) throws(Refusal) {
    guard let value else { return }
    guard value.depth <= Limits.jsonDepth else {
      throw .invalid(field, "must not nest deeper than \(Limits.jsonDepth) levels")
    }
    let bytes = JSONText.bytes(of: value).count
    guard bytes <= jsonBytes else {
      throw .invalid(field, "must be at most \(jsonBytes) bytes of JSON, not \(bytes)")
    }
  }
}
