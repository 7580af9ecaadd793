/// A file that a group shares.
package struct GroupFileRecord: Sendable, Hashable, Codable {
  package var name: String
  package var url: String
  package var sizeBytes: Int64
  /// The account that shared it; nil if a trusted caller did in nobody's name.
  package var owner: AccountID?
  package var createdAt: Int64

  package init(name: String, url: String, sizeBytes: Int64, owner: AccountID?, createdAt: Int64) {
    self.name = name
    self.url = url
    self.sizeBytes = sizeBytes
    self.owner = owner
    self.createdAt = createdAt
  }

  /// The file in the form that attachments and HTTP show.
  package func info(_ id: EntityID) -> JSONValue {
    [
      "fileId": .string(id.text), "name": .string(name), "url": .string(url), "size": .integer(sizeBytes),
      "owner": .accid(owner), "createTime": .integer(createdAt),
    ]
  }

  func checkLimits() throws(Refusal) {
    if name.isEmpty { throw .invalid("name", "must not be empty") }
    try NotificationContent.check(name, "name", characters: Limits.nameCharacters)
    try NotificationContent.check(url, "url", bytes: 1...Limits.urlBytes)
    guard sizeBytes >= 0 else { throw .invalid("size", "must not be negative") }
  }
}

extension RecordAddress {
  package static func file(_ id: EntityID, in space: SpaceID) -> Self { Self(space, .files, id.text) }
}
