internal import FoundationEssentials

/// The JSON of the records and the log. Its keys are sorted, so that equal values are equal texts, and a
/// precondition compares values by their texts.
package enum RecordJSON {
  package static func text(_ value: some Encodable) throws(Refusal) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch {
      // Only a number that JSON cannot express (infinity, not-a-number) leads here.
      throw Refusal(.invalidField, "cannot be written as JSON: \(error)")
    }
  }

  /// Reads JSON whose names are all Belfry's own. Foundation hashes the names as strings, so JSON with names
  /// that callers chose is read and written by the two functions below.
  package static func value<Value: Decodable>(_: Value.Type, _ text: String) -> Value? {
    try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
  }

  package static func text(_ value: JSONValue) -> String {
    String(decoding: JSONText.bytes(of: value), as: UTF8.self)
  }

  package static func value(_ text: String) -> JSONValue? { try? JSONParser.value(of: Array(text.utf8)) }
}

// MARK: - Decoded records

extension Records {
  package func server(_ space: SpaceID) throws(Refusal) -> ServerRecord {
    try settings(ServerRecord.self, space)
  }

  package func channel(_ id: EntityID, of space: SpaceID) throws(Refusal) -> ChannelRecord {
    guard let channel = try settingsJSON(ChannelRecord.self, .channel(id, of: space)) else {
      throw .noChannel(id, in: space)
    }
    return channel
  }

  package func member(_ account: AccountID, of space: SpaceID) throws(Refusal) -> MemberRecord? {
    try memberRecord(.member(account, of: space))
  }

  package func former(_ account: AccountID, of space: SpaceID) throws(Refusal) -> MemberRecord? {
    try memberRecord(.former(account, of: space))
  }

  private func memberRecord(_ address: RecordAddress) throws(Refusal) -> MemberRecord? {
    try decoded(address) { MemberRecord(text: $0) }
  }

  /// The settings of a space or a channel, on which every send decides.
  func settingsJSON<Value: Decodable & Sendable>(
    _ type: Value.Type, _ address: RecordAddress
  ) throws(Refusal) -> Value? {
    if let value = decodedBefore(address, as: type) { return value }
    return try json(type, address)
  }

  package func json<Value: Decodable>(_ type: Value.Type, _ address: RecordAddress) throws(Refusal) -> Value?
  {
    try decoded(address) { RecordJSON.value(type, $0) }
  }

  private func decoded<Value>(
    _ address: RecordAddress, _ decode: (String) -> Value?
  ) throws(Refusal) -> Value? {
    guard let text = text(address) else { return nil }
    guard let value = decode(text) else { throw unreadable(address) }
    return value
  }

  /// The refusal of an unreadable record: deciding without it would be deciding on nothing.
  func unreadable(_ address: RecordAddress) -> Refusal {
    Refusal(
      .unavailable,
      "a stored record of \(address.space) cannot be read (\(address.table.name) \(address.field)). Tell the operator of the broker"
    )
  }
}

extension RecordAddress {
  /// The settings that a text at this address encodes, for a caller that keeps them with the text. Every send
  /// decides on them, they hardly ever change, and decoding them was a tenth of a send. Nil at other
  /// addresses, and for a text that cannot be read.
  package func settings(decoding text: String) -> (any Sendable)? {
    if table == .channels { return RecordJSON.value(ChannelRecord.self, text) }
    guard self == .settings(space) else { return nil }
    return switch space.kind {
    case .server: RecordJSON.value(ServerRecord.self, text)
    case .group: RecordJSON.value(GroupRecord.self, text)
    case .room: RecordJSON.value(RoomRecord.self, text)
    case .account, .direct: nil
    }
  }
}
