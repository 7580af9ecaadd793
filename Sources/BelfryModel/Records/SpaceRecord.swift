/// What the settings of servers, groups and rooms have in common.
package protocol SpaceRecord: Sendable, Hashable, Codable {
  static var kind: SpaceKind { get }
  /// Whom it belongs to; a room's host.
  var owner: AccountID { get }
  var admins: [AccountID] { get }
  /// When it was removed, milliseconds since 1970. Its log still drains to its members until retention;
  /// to every operation it is not there.
  var removedAt: Int64? { get }
  /// Whether strangers are told that it is not there.
  var isHiddenFromStrangers: Bool { get }
  /// As attachments and HTTP show it.
  func info(_ space: SpaceID) -> JSONValue
  /// Refuses a member who may not send to it now. By itself, every member may.
  func requireMaySend(_ member: MemberRecord, nowMilliseconds: Int64) throws(Refusal)
}

extension SpaceRecord {
  package var isHiddenFromStrangers: Bool { false }
  package var administrators: [AccountID] { [owner] + admins }
  /// The field of the wire that holds its id, `serverId`.
  package static var idField: String { kind.rawValue + "Id" }
}

extension Records {
  /// The space, unless it does not exist or was removed.
  package func settings<Record: SpaceRecord>(_: Record.Type, _ space: SpaceID) throws(Refusal) -> Record {
    guard let record = try settingsJSON(Record.self, .settings(space)), record.removedAt == nil else {
      throw .absent(Record.self, space)
    }
    return record
  }
}

extension Refusal {
  /// Also where there is one that the caller must not know of.
  package static func absent<Record: SpaceRecord>(_: Record.Type, _ space: SpaceID) -> Refusal {
    absent(space)
  }

  static func absent(_ space: SpaceID) -> Refusal {
    Refusal(.notFound, "there is no \(space.kind) \(space.name)", field: "\(space.kind)Id")
  }

  package static func notMember(of space: SpaceID) -> Refusal {
    Refusal(.notMember, "you are not a member of \(space.kind) \(space.name)")
  }
}

extension Records {
  package func requireAbsent<Record: SpaceRecord>(_: Record.Type, _ space: SpaceID) throws(Refusal) {
    guard text(.settings(space)) == nil else {
      throw Refusal(.conflict, "\(Record.kind) \(space.name) exists already", field: Record.idField)
    }
  }

  /// The precondition that these records are still what was read.
  func unchanged(_ addresses: [RecordAddress]) -> [RecordAddress: String?] {
    // All that was read, as with a send: no other dictionary is needed. Looked at from both sides, for an address may
    // be there twice, and of a batch other lines' records were read with it.
    let few = 8
    if addresses.count <= few, texts.count == addresses.count, texts.keys.allSatisfy(addresses.contains) {
      return texts
    }
    return Dictionary(addresses.map { ($0, text($0)) }) { first, _ in first }
  }
}
