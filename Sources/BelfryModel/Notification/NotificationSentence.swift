/// The content of a built-in notification as a sentence: "alice invited you to Campfire".
package struct NotificationSentence {
  private let content: NotificationContent
  private let names: SpaceNames
  private let time: (_ milliseconds: Int64) -> String?
  private let attach: JSONObject
  private let receiver: Receiver

  /// - Parameters:
  ///   - names: names that include those of this notification.
  ///   - receivers: the accounts that the notification is for, if somebody else reads the sentence: "alice invited bob". Empty
  ///     if a receiver reads it: "alice invited you".
  ///   - time: formats a time, milliseconds since 1970; nil leaves it out.
  package init(
    _ content: NotificationContent, _ names: SpaceNames, to receivers: [AccountID] = [],
    time: @escaping (_ milliseconds: Int64) -> String?
  ) {
    self.content = content
    self.names = names
    self.time = time
    receiver = Receiver(receivers)
    if case .object(let members)? = content.attach { attach = members } else { attach = [:] }
  }

  /// Nil for a notification that a sender wrote, and for a type of a later version.
  package var text: String? {
    guard let type = Catalogue.type(content.type) else { return nil }
    switch type.scene {
    case .server: return ofServer(type)
    case .channel: return ofChannel(type)
    case .group: return ofGroup(type)
    case .room: return ofRoom(type)
    case .any: return nil
    }
  }

  // MARK: Scenes

  private func ofServer(_ type: NotificationType) -> String? {
    switch type {
    case Catalogue.serverMemberInvite: "\(actor) invited \(receiver.name) to \(server)\(said("postscript"))"
    case Catalogue.serverMemberInviteReject:
      "\(actor) declined the invitation to \(server)\(said("postscript"))"
    case Catalogue.serverMemberApply: "\(actor) asks to join \(server)\(said("postscript"))"
    case Catalogue.serverMemberApplyReject:
      "\(actor) did not let \(receiver.name) into \(server)\(said("postscript"))"
    case Catalogue.serverCreate: "\(actor) created \(server)"
    case Catalogue.serverRemove: "\(actor) deleted \(server)"
    case Catalogue.serverUpdate: "\(actor) changed the settings of \(server)"
    case Catalogue.serverMemberInviteDone: "\(actor) added \(accounts("invitedAccids")) to \(server)"
    case Catalogue.serverMemberInviteAccept:
      "\(actor) accepted the invitation of \(name("inviteAccid")) to \(server)"
    case Catalogue.serverMemberApplyDone: "\(actor) joined \(server)"
    case Catalogue.serverMemberApplyAccept: "\(actor) let \(name("applyAccid")) into \(server)"
    case Catalogue.serverMemberKickDone: "\(actor) removed \(accounts("kickedAccids")) from \(server)"
    case Catalogue.serverMemberLeaveDone: "\(actor) left \(server)"
    case Catalogue.serverMemberUpdate: "\(actor) changed \(member) in \(server)"
    case Catalogue.serverEnterLeave:
      attach["event"] == 1
        ? "\(receiver.name) \(receiver.are) in \(server) now"
        : "\(receiver.name) \(receiver.are) no longer in \(server)"
    case Catalogue.serverMemberJoinByInviteCode: "\(actor) joined \(server) with an invite code"
    case _ where Catalogue.announcedCodes.contains { $0.contains(type.code) }:
      "\(type.name) in \(channelAndServer)"
    default: nil
    }
  }

  private func ofChannel(_ type: NotificationType) -> String? {
    switch type {
    case Catalogue.channelCreate: "\(actor) created \(channel)"
    case Catalogue.channelRemove: "\(actor) deleted \(channel)"
    case Catalogue.channelUpdate: "\(actor) changed the settings of \(channel)"
    case Catalogue.channelListUpdateMember: listChange
    case Catalogue.channelVisibilityUpdate:
      attach["event"] == 1
        ? "\(receiver.name) can see \(channel) now" : "\(receiver.name) can no longer see \(channel)"
    case Catalogue.channelMemberCreated: "\(actor) created \(channel) with \(receiver.name) in it"
    case Catalogue.channelInvitation: "\(actor) invited \(receiver.name) to \(channel)\(said("postscript"))"
    case Catalogue.channelInvitationAccepted: "\(name("accid")) accepted the invitation to \(channel)"
    case Catalogue.channelInvitationDeclined:
      "\(name("accid")) declined the invitation to \(channel)\(said("postscript"))"
    case Catalogue.channelMemberJoined: "\(accounts("accids")) joined \(channel)"
    case Catalogue.channelMemberLeft: "\(accounts("accids")) left \(channel)"
    case Catalogue.channelMemberRemoved: "\(actor) removed \(accounts("accids")) from \(channel)"
    case Catalogue.channelMemberMuteChanged:
      attach["muted"] == true
        ? "\(actor) muted \(accounts("accids")) in \(channelOrServer)\(until)"
        : "\(actor) unmuted \(accounts("accids")) in \(channelOrServer)"
    default: nil
    }
  }

  private func ofGroup(_ type: NotificationType) -> String? {
    switch type {
    case Catalogue.groupInvitation:
      "\(name("inviter")) invited \(receiver.name) to \(group)\(said("message"))"
    case Catalogue.groupInvitationAccepted: "\(name("accid")) accepted the invitation to \(group)"
    case Catalogue.groupInvitationDeclined:
      "\(name("accid")) declined the invitation to \(group)\(said("reason"))"
    case Catalogue.groupJoined: "\(name("inviter")) added \(receiver.name) to \(group)\(said("message"))"
    case Catalogue.groupJoinRequest: "\(name("accid")) asks to join \(group)\(said("reason"))"
    case Catalogue.groupJoinRequestApproved: "\(actor) let \(name("accid")) into \(group)"
    case Catalogue.groupJoinRequestDeclined:
      "\(name("decliner")) did not let \(name("applicant")) into \(group)\(said("reason"))"
    case Catalogue.groupMemberJoined: "\(accounts("accids")) joined \(group)"
    case Catalogue.groupMemberLeft: "\(accounts("accids")) left \(group)"
    case Catalogue.groupLeft: groupExit
    case Catalogue.groupOwnerChanged: "\(name("oldOwner")) handed \(group) over to \(name("newOwner"))"
    case Catalogue.groupAnnouncementUpdated: "\(actor) announced in \(group)\(said("announcement"))"
    case Catalogue.groupFileAdded: "\(actor) shared \(file) in \(group)"
    case Catalogue.groupFileRemoved: "\(actor) removed \(file) from \(group)"
    case Catalogue.groupUpdated: "\(actor) changed the settings of \(group)"
    case Catalogue.groupMemberAttributesChanged:
      "\(name("operator")) changed the attributes of \(name("accid")) in \(group)"
    default: ofGroupRights(type)
    }
  }

  private func ofGroupRights(_ type: NotificationType) -> String? {
    switch type {
    case Catalogue.groupMuteAdded: "\(actor) muted \(accounts("accids")) in \(group)\(until)"
    case Catalogue.groupMuteRemoved: "\(actor) unmuted \(accounts("accids")) in \(group)"
    case Catalogue.groupAllowListAdded: "\(actor) put \(accounts("accids")) on the allow list of \(group)"
    case Catalogue.groupAllowListRemoved:
      "\(actor) took \(accounts("accids")) off the allow list of \(group)"
    case Catalogue.groupAllMuteChanged:
      attach["on"] == true
        ? "\(actor) muted everybody in \(group)" : "\(actor) unmuted everybody in \(group)"
    case Catalogue.groupAdminAdded: "\(actor) made \(name("accid")) an admin of \(group)"
    case Catalogue.groupAdminRemoved: "\(name("accid")) is no longer an admin of \(group)"
    default: nil
    }
  }

  private func ofRoom(_ type: NotificationType) -> String? {
    switch type {
    case Catalogue.roomAttendeeJoined: "\(name("accid")) entered \(room)"
    case Catalogue.roomAttendeeLeft: roomExit
    case Catalogue.roomHandChanged:
      "\(name("accid")) \(attach["raised"] == true ? "raised" : "lowered") a hand in \(room)"
    case Catalogue.roomStageInvitation: "\(actor) invited \(receiver.name) to the stage of \(room)\(until)"
    case Catalogue.roomStageInvitationAnswered:
      "\(name("accid")) \(attach["accepted"] == true ? "accepted" : "declined") the invitation to the stage of "
        + room
    case Catalogue.roomRoleChanged:
      "\(name("accid")) \(word("role").map { "is now a \($0)" } ?? "has another role") in \(room)"
    case Catalogue.roomMicrophoneChanged:
      "\(name("operator")) switched \(name("accid"))'s microphone \(attach["on"] == true ? "on" : "off") in \(room)"
    case Catalogue.roomClosed: "\(room) was closed"
    case Catalogue.roomUpdated: "\(actor) changed the settings of \(room)"
    default: nil
    }
  }
}

// MARK: - Parts

extension NotificationSentence {
  private var actor: String { content.fromNick ?? content.fromAccount?.text ?? "somebody" }

  private var server: String { place("server", content.serverId) }
  private var channel: String { place("channel", content.channelId) }
  private var channelOrServer: String { content.channelId == nil ? server : channel }
  private var channelAndServer: String { content.channelId == nil ? server : "\(channel) of \(server)" }
  private var group: String { place("group", content.groupId) }
  private var room: String { place("room", content.roomId) }

  private func place(_ kind: String, _ id: EntityID?) -> String {
    if let name = names.name(kind, id) { return kind == "channel" ? "channel \(name)" : name }
    return id.map { "\(kind) \($0)" } ?? "a \(kind)"
  }

  private func word(_ field: String) -> String? {
    if case .string(let text)? = attach[field] { text } else { nil }
  }

  private func name(_ field: String) -> String { word(field) ?? "somebody" }

  private func accounts(_ field: String) -> String {
    guard case .array(let elements)? = attach[field] else { return "somebody" }
    return Self.list(elements.compactMap { if case .string(let name) = $0 { name } else { nil } })
  }

  private static func list(_ names: [String]) -> String {
    // A notification may tell of a thousand at once.
    if names.count > 5 { return names.prefix(4).joined(separator: ", ") + " and \(names.count - 4) others" }
    if names.count < 2 { return names.first ?? "somebody" }
    return names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
  }

  /// The receivers as the subject or the object of a sentence.
  private struct Receiver {
    let name: String
    let are: String
    let were: String

    init(_ accounts: [AccountID]) {
      name = accounts.isEmpty ? "you" : NotificationSentence.list(accounts.map(\.text))
      let isOne = accounts.count == 1
      (are, were) = isOne ? ("is", "was") : ("are", "were")
    }
  }

  private func said(_ field: String) -> String {
    word(field).flatMap { $0.isEmpty ? nil : ": \($0)" } ?? ""
  }

  private var until: String {
    guard case .integer(let end)? = attach["expiresAt"], end > 0, let text = time(end) else { return "" }
    return " until \(text)"
  }

  private var member: String {
    guard case .object(let info)? = attach["memberInfo"], case .string(let account)? = info["accid"] else {
      return "a member"
    }
    let facts = ["role", "nick"].compactMap { name -> String? in
      if case .string(let value)? = info[name] { "\(name) \(value)" } else { nil }
    }
    return facts.isEmpty ? account : "\(account) (\(facts.joined(separator: ", ")))"
  }

  private var file: String {
    if case .object(let info)? = attach["file"], case .string(let name)? = info["name"] {
      name
    } else {
      "a file"
    }
  }

  private var listChange: String {
    let list = attach["type"] == 1 ? "allow list" : "block list"
    return attach["opeType"] == 1
      ? "\(actor) put \(accounts("accids")) on the \(list) of \(channel)"
      : "\(actor) took \(accounts("accids")) off the \(list) of \(channel)"
  }

  private var groupExit: String {
    switch word("reason") {
    case "destroyed": "\(group) was deleted"
    case "blocked": "\(receiver.name) \(receiver.were) banned from \(group)"
    default: "\(receiver.name) \(receiver.were) removed from \(group)"
    }
  }

  private var roomExit: String {
    switch word("reason") {
    case "timeout": "\(name("accid")) lost the connection to \(room)"
    case "removed": "\(name("accid")) was removed from \(room)"
    default: "\(name("accid")) left \(room)"
    }
  }
}
