package import BelfryBytes

/// The owner and the admins pin an announcement; an empty one removes it.
package struct SetGroupAnnouncement: SpaceOperation {
  package static let name = OperationName(.group, "announce")
  package static let access = Access.administrators

  package var space: SpaceID
  package var actor: Actor
  package var announcement: String

  package init(_ id: EntityID, actor: Actor, announcement: String) {
    space = .group(id)
    self.actor = actor
    self.announcement = announcement
  }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) {
    try NotificationContent.check(
      announcement, "announcement", characters: Limits.announcementCharacters)
    guard UTF8Text(draft.settings.announcement ?? "") != UTF8Text(announcement) else { return }
    draft.settings.announcement = announcement.isEmpty ? nil : announcement
    draft.announce(
      Catalogue.groupAnnouncementUpdated, attach: ["announcement": .string(announcement)])
  }
}

/// A member shares a file: its address and its description. The bytes are elsewhere.
package struct AddGroupFile: SpaceOperation {
  package static let name = OperationName(.group, "addFile")
  package static let access = Access.members

  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID
  package var fileName: String
  package var url: String
  package var sizeBytes: Int64

  package init(_ group: EntityID, id: EntityID, actor: Actor, name: String, url: String, sizeBytes: Int64) {
    space = .group(group)
    self.id = id
    self.actor = actor
    fileName = name
    self.url = url
    self.sizeBytes = sizeBytes
  }

  package var concerns: [RecordAddress] { [.file(id, in: space)] }
  package var counts: [RecordTable] { [.files] }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) -> GroupFileRecord {
    let file = GroupFileRecord(
      name: fileName, url: url, sizeBytes: sizeBytes, owner: actor.account,
      createdAt: draft.nowMilliseconds)
    try file.checkLimits()
    guard draft.records.text(.file(id, in: space)) == nil else {
      throw Refusal(.conflict, "file \(id) already exists", field: "fileId")
    }
    try draft.put(.file(id, in: space), try RecordJSON.text(file), atMost: Limits.filesPerGroup)
    draft.announce(Catalogue.groupFileAdded, attach: ["file": file.info(id)])
    return file
  }
}

/// A member who shared a file may remove it as long as they are members. The owner and the admins may remove
/// any.
package struct RemoveGroupFile: SpaceOperation {
  package static let name = OperationName(.group, "removeFile")
  package static let access = Access.members

  package var space: SpaceID
  package var actor: Actor
  package var id: EntityID

  package init(_ group: EntityID, id: EntityID, actor: Actor) {
    space = .group(group)
    self.id = id
    self.actor = actor
  }

  package var concerns: [RecordAddress] { [.file(id, in: space)] }

  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) {
    guard let file = try draft.records.json(GroupFileRecord.self, .file(id, in: space)) else {
      throw Refusal(.notFound, "there is no file \(id) in group \(space.name)", field: "fileId")
    }
    if file.owner == nil || file.owner != actor.account {
      try draft.require(.administrators, to: "remove another account's file")
    }
    draft.change(.file(id, in: space), to: nil)
    draft.announce(Catalogue.groupFileRemoved, attach: ["file": file.info(id)])
  }
}

/// Sets attributes of a member in the group, by the member or an admin. Each given attribute replaces the one
/// of that name, and an empty one removes it.
package struct SetMemberAttributes: SpaceOperation {
  package static let name = OperationName(.group, "memberAttributes")
  package static let access = Access.ownRule

  package var space: SpaceID
  package var actor: Actor
  package var account: AccountID
  package var attributes: [UTF8Text: String]

  package init(_ id: EntityID, actor: Actor, account: AccountID, attributes: [UTF8Text: String]) {
    space = .group(id)
    self.actor = actor
    self.account = account
    self.attributes = attributes
  }

  package var accounts: [AccountID] { [account] }
  package var concerns: [RecordAddress] { [.member(account, of: space), .profile(account, in: space)] }

  /// Gives all the attributes, as they are now.
  package func carryOut(_ draft: inout Draft<GroupRecord>) throws(Refusal) -> [UTF8Text: String] {
    try draft.require(actor.account == account ? .members : .administrators, to: Self.name.act)
    _ = try draft.knownMember(account, field: "accid")
    let before = try draft.records.attributes(account, in: space)
    let after = before.merging(attributes) { _, given in given }.filter { !$0.value.utf8.isEmpty }
    let object = JSONValue.object(JSONObject(texts: after))
    guard object != .object(JSONObject(texts: before)) else { return before }
    let text = RecordJSON.text(object)
    try check(after, text)
    draft.change(.profile(account, in: space), to: after.isEmpty ? nil : text)
    draft.announce(
      Catalogue.groupMemberAttributesChanged,
      attach: [
        "accid": .string(account.text), "attributes": object,
        "operator": .accid(actor.account),
      ])
    return after
  }

  private func check(_ after: [UTF8Text: String], _ text: String) throws(Refusal) {
    if after.keys.contains("") {
      throw .invalid("attributes", "must not contain an attribute with an empty name")
    }
    guard text.utf8.count <= Limits.attributesBytes else {
      throw .invalid(
        "attributes",
        "must be at most \(Limits.attributesBytes) bytes of JSON together, not \(text.utf8.count)")
    }
  }
}

extension Records {
  /// The member's attributes in the group.
  package func attributes(_ account: AccountID, in space: SpaceID) throws(Refusal) -> [UTF8Text: String] {
    let address = RecordAddress.profile(account, in: space)
    guard let text = text(address) else { return [:] }
    guard case .object(let members)? = RecordJSON.value(text) else { throw unreadable(address) }
    var attributes: [UTF8Text: String] = [:]
    for (name, value) in members {
      guard case .string(let text) = value else { throw unreadable(address) }
      attributes[UTF8Text(name)] = text
    }
    return attributes
  }
}

extension JSONObject {
  package init(texts: [UTF8Text: String]) {
    self.init(distinct: texts.map { (name: $0.key, value: .string($0.value)) })
  }
}
