import BelfryInterface
import BelfryModel

// Invitations and applications are notifications. A person who reads one is told the command that accepts it.

extension NotificationText {
  /// The command that accepts what a notification asks for, as it is typed: `belfry server accept 12 34 --as bob`.
  ///
  /// - Parameter account: the account that the command acts for by `--as`.
  static func accepting(_ content: NotificationContent, as account: String?) -> String? {
    guard let command = content.acceptingCommand else { return nil }
    return typed(command, as: account)
  }

  /// The name of the place that an account is invited to, and the command that accepts the invitation. Nil if the row of a
  /// list is no such invitation.
  static func accepting(
    invitation row: JSONValue, as account: String?
  ) -> (name: String, command: String)? {
    guard case .object(let members) = row, case .string(let name)? = members["name"] else { return nil }
    let request = members.id("requestId")
    let words =
      if members["groupId"] != nil {
        command("group accept", [members.id("groupId"), request])
      } else if members["channelId"] != nil {
        command("channel accept", [members.id("serverId"), members.id("channelId"), request])
      } else {
        command("server accept", [members.id("serverId"), request])
      }
    return words.map { (name, typed($0, as: account)) }
  }

  /// The line below commands that accept something, which says how to decline it. An application is approved or refused.
  static func declining(_ commands: [String]) -> String {
    let words = [("accept", "decline"), ("approve", "refuse")].filter { word, _ in
      commands.contains { $0.split(separator: " ").dropFirst(2).first?.hasPrefix(word) == true }
    }
    return "To decline, say \(words.map { "\($1) in place of \($0)" }.joined(separator: ", "))."
  }

  /// The id of the request of an invitation to a server, a channel or a group. Nil for other notifications.
  static func invitation(in content: NotificationContent) -> EntityID? {
    switch Catalogue.type(content.type) {
    case Catalogue.serverMemberInvite, Catalogue.channelInvitation, Catalogue.groupInvitation:
      content.asked("requestId")
    default: nil
    }
  }

  /// The id of the request of an application to a server or a group, with the route that lists the pending ones and the id in
  /// its path. Nil for other notifications.
  static func application(in content: NotificationContent) -> (
    request: EntityID, listedBy: Route, at: EntityID
  )? {
    let place: (list: Route, id: EntityID?)? =
      switch Catalogue.type(content.type) {
      case Catalogue.serverMemberApply: (ServerJoiningRoutes.listApplications.route, content.serverId)
      case Catalogue.groupJoinRequest: (GroupRoutes.listApplications.route, content.groupId)
      default: nil
      }
    guard let place, let id = place.id, let request = content.asked("requestId") else { return nil }
    return (request, place.list, id)
  }

  /// The room of an invitation to the stage, and the time at which it expires. Nil for other notifications.
  static func stageInvitation(in content: NotificationContent) -> (room: EntityID, expiresAt: Int64)? {
    guard Catalogue.type(content.type) == Catalogue.roomStageInvitation, let room = content.roomId,
      case .object(let members)? = content.attach, case .integer(let time)? = members["expiresAt"]
    else { return nil }
    return (room, time)
  }

  /// The id of a request in a row of a list.
  static func requestID(of row: JSONValue) -> EntityID? {
    guard case .object(let members) = row else { return nil }
    return members.id("requestId")
  }

  private static func typed(_ command: String, as account: String?) -> String {
    "belfry \(command)" + (account.map { " --as \($0)" } ?? "")
  }

  /// Nil if an id is missing.
  fileprivate static func command(_ name: String, _ ids: [EntityID?]) -> String? {
    let words = ids.compactMap { $0?.text }
    return words.count == ids.count ? ([name] + words).joined(separator: " ") : nil
  }
}

extension JSONObject {
  fileprivate func id(_ field: String) -> EntityID? {
    guard case .string(let text)? = self[field] else { return nil }
    return EntityID(text)
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

  fileprivate func asked(_ field: String) -> EntityID? {
    guard case .object(let members)? = attach else { return nil }
    return members.id(field)
  }

  private func command(_ name: String, _ ids: EntityID?...) -> String? {
    NotificationText.command(name, ids)
  }
}
