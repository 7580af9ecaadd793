import BelfryModel

// Invitations and applications are notifications. A person who reads one is told the command that accepts it.

extension NotificationText {
  /// The command that accepts what a notification asks for, as it is typed: `belfry server accept 12 34 --as bob`.
  ///
  /// - Parameter account: the account that the command acts for by `--as`.
  static func accepting(_ content: NotificationContent, as account: String?) -> String? {
    guard let command = content.acceptingCommand else { return nil }
    return "belfry \(command)" + (account.map { " --as \($0)" } ?? "")
  }
}

extension NotificationContent {
  /// The words of the command: `server accept 12 34`. Nil if the notification asks for nothing.
  fileprivate var acceptingCommand: String? {
    guard let known = Catalogue.type(type) else { return nil }
    return switch known {
    case Catalogue.serverMemberInvite: command("server accept", serverId, asked("requestId"))
    case Catalogue.serverMemberApply: command("server approve", serverId, asked("requestId"))
    case Catalogue.channelInvitation: command("channel accept", serverId, channelId, asked("requestId"))
    case Catalogue.groupInvitation: command("group accept", groupId, asked("requestId"))
    case Catalogue.groupJoinRequest: command("group approve", groupId, asked("requestId"))
    case Catalogue.roomStageInvitation: command("room accept-stage", roomId, asked("token"))
    default: nil
    }
  }

  private func asked(_ field: String) -> EntityID? {
    guard case .object(let members)? = attach, case .string(let text)? = members[field] else { return nil }
    return EntityID(text)
  }

  private func command(_ name: String, _ ids: EntityID?...) -> String? {
    let words = ids.compactMap { $0?.text }
    return words.count == ids.count ? ([name] + words).joined(separator: " ") : nil
  }
}
