/// The common settings of servers, groups and rooms.
package protocol SpaceRecord: Sendable, Hashable, Codable {
  static var kind: SpaceKind { get }
  /// The owner; for a room the host.
  var owner: AccountID { get }
  var admins: [AccountID] { get }
  /// The time at which the space was removed, milliseconds since 1970. Its members still see its entries
  /// until retention; for operations it does not exist.
  var removedAt: Int64? { get }
  /// True if accounts that are no members are told that the space does not exist.
  var isHiddenFromStrangers: Bool { get }
  /// The space in the form that attachments and HTTP show.
  func info(_ space: SpaceID) -> JSONValue
  /// Throws if the space takes no sends and no members, even from trusted callers. Unless a record
  /// says more, every space takes them.
  func requireEnabled() throws(Refusal)
  /// Throws if a member may not send to the space now. Unless a record says more, every member may.
  func requireMaySend(_ member: MemberRecord, nowMilliseconds: Int64) throws(Refusal)
  /// Throws if a member may not send to everybody in the space. Unless a record says more, every member who
  /// may send may do so.
  func requireMayBroadcast(_ member: MemberRecord) throws(Refusal)
  /// Throws if a member may not send under a nick that is not that of its profile. Unless a record says
  /// more, every member may.
  func requireMayUse(nick: String, _ member: MemberRecord) throws(Refusal)
}

extension SpaceRecord {
  package var isHiddenFromStrangers: Bool { false }
  package var administrators: [AccountID] { [owner] + admins }
  /// The field of the wire that holds its id, `serverId`.
  package static var idField: String { kind.rawValue + "Id" }
}

extension Records {
  /// The settings of the space.
  /// - Throws: `notFound` if it does not exist, or was removed.
  package func settings<Record: SpaceRecord>(_: Record.Type, _ space: SpaceID) throws(Refusal) -> Record {
    guard let record = try settingsJSON(Record.self, .settings(space)), record.removedAt == nil else {
      throw .absent(Record.self, space)
    }
    return record
  }
}

extension Refusal {
  /// The refusal if the space does not exist, or if the caller must not know that it does.
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

  /// The precondition that these records still have the texts that were read.
  func unchanged(_ addresses: [RecordAddress]) -> [RecordAddress: String?] {
    // For a send these are mostly all the records that were read, and no other dictionary is needed. They are
    // compared both ways: an address may be listed twice, and the records of a batch's other lines may have
    // been read, too.
    let few = 8
    if addresses.count <= few, texts.count == addresses.count, texts.keys.allSatisfy(addresses.contains) {
      return texts
    }
    return Dictionary(addresses.map { ($0, text($0)) }) { first, _ in first }
  }
}
