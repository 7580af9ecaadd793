/// What the settings of servers, groups and rooms have in common.
package protocol SpaceRecord: Sendable, Hashable, Codable {
  static var kind: SpaceKind { get }
  /// The owner; of a room the host.
  var owner: AccountID { get }
  var admins: [AccountID] { get }
  /// When the space was removed, milliseconds since 1970. Its members still see its entries until retention; for
  /// operations it does not exist.
  var removedAt: Int64? { get }
  /// Whether accounts that are no members are told that the space does not exist.
  var isHiddenFromStrangers: Bool { get }
  /// As attachments and HTTP show it.
  func info(_ space: SpaceID) -> JSONValue
  /// Checks whether the space takes sends and members at all, also from trusted callers. By default every space does.
  func requireEnabled() throws(Refusal)
  /// Checks whether a member may send to the space now. Unless a record says more, every member may.
  func requireMaySend(_ member: MemberRecord, nowMilliseconds: Int64) throws(Refusal)
  /// Checks whether a member may send to everybody in the space. Unless a record says more, every member may who may send.
  func requireMayBroadcast(_ member: MemberRecord) throws(Refusal)
  /// Checks whether a member may send under a nick that is not that of its profile. By default every member may.
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
  /// The refusal where the space does not exist, and where the caller must not know that it does.
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
    // For a send these are mostly all the records read, and no other dictionary is needed. Compared both ways: an address
    // may be listed twice, and the records of a batch's other lines may have been read, too.
    let few = 8
    if addresses.count <= few, texts.count == addresses.count, texts.keys.allSatisfy(addresses.contains) {
      return texts
    }
    return Dictionary(addresses.map { ($0, text($0)) }) { first, _ in first }
  }
}
