/// The names of spaces and channels, as far as the notifications that were shown contained them.
package struct SpaceNames {
  /// The names of a long evening. At this number all are forgotten, and learned again.
  private static let countMax = 10_000

  private var names: [String: String] = [:]
  /// The account that reads the notifications; nil if it is not known.
  private let account: String?

  package init(of account: String? = nil) { self.account = account }

  package mutating func learn(from content: NotificationContent) {
    guard case .object(let attach)? = content.attach else { return }
    for place in SpacePlace.all(of: content) {
      guard case .object(let info)? = attach["\(place.kind)Info"] else { continue }
      learn(place, from: info)
    }
  }

  /// - Parameter info: an object with the `name` or the `subject`.
  package mutating func learn(_ place: SpacePlace, from info: JSONObject) {
    guard case .string(let name)? = info["name"] ?? info["subject"], !name.isEmpty else { return }
    if names.count >= Self.countMax { names.removeAll() }
    names[place.text] = name
  }

  /// - Parameter kind: `server`, `channel`, `group` or `room`.
  package func name(_ kind: String, _ id: EntityID?) -> String? {
    id.flatMap { names["\(kind) \($0)"] }
  }

  /// The places of some notifications that have no name yet, each once.
  package func unnamed(in contents: some Sequence<NotificationContent>) -> [SpacePlace] {
    var seen: Set<String> = []
    return contents.flatMap(SpacePlace.all).filter { place in
      names[place.text] == nil && seen.insert(place.text).inserted
    }
  }

  /// `server 12 (Campfire) channel 34`; the account for what is only for it, as the counts of unread notifications have it.
  package func text(_ content: NotificationContent) -> String {
    let own = "account" + (account.map { " \($0)" } ?? "")
    if Self.invitations.contains(content.type) { return own }
    let words = SpacePlace.all(of: content).map { place in
      place.text + (names[place.text].map { " (\($0))" } ?? "")
    }
    return words.isEmpty ? own : words.joined(separator: " ")
  }

  /// Invitations to a space that the invited account is not in. They are in the account's own space; their sentences name the
  /// other.
  private static let invitations = Set([Catalogue.serverMemberInvite, Catalogue.groupInvitation].map(\.code))
}

/// A server, a channel, a group or a room.
package struct SpacePlace {
  package let kind: String
  package let id: EntityID
  /// The server of a channel.
  package private(set) var server: EntityID?

  fileprivate var text: String { "\(kind) \(id)" }

  /// The places that a notification was sent to.
  fileprivate static func all(of content: NotificationContent) -> [SpacePlace] {
    [
      content.serverId.map { SpacePlace(kind: "server", id: $0) },
      content.channelId.map { SpacePlace(kind: "channel", id: $0, server: content.serverId) },
      content.groupId.map { SpacePlace(kind: "group", id: $0) },
      content.roomId.map { SpacePlace(kind: "room", id: $0) },
    ].compactMap(\.self)
  }
}
