/// What spaces and channels are called, as far as the notifications that were shown have told it.
package struct SpaceNames {
  /// Those of a long evening; then it begins anew.
  private static let countMax = 10_000

  private var names: [String: String] = [:]

  package init() {}

  package mutating func learn(from content: NotificationContent) {
    guard case .object(let attach)? = content.attach else { return }
    for (kind, id) in Self.places(content) {
      guard case .object(let info)? = attach["\(kind)Info"],
        case .string(let name)? = info["name"] ?? info["subject"], !name.isEmpty
      else { continue }
      if names.count >= Self.countMax { names.removeAll() }
      names["\(kind) \(id)"] = name
    }
  }

  /// - Parameter kind: `server`, `channel`, `group` or `room`.
  package func name(_ kind: String, _ id: EntityID?) -> String? {
    id.flatMap { names["\(kind) \($0)"] }
  }

  /// `server 12 (Campfire) channel 34`.
  package func text(_ content: NotificationContent) -> String {
    let words = Self.places(content).map { kind, id in
      "\(kind) \(id)" + (name(kind, id).map { " (\($0))" } ?? "")
    }
    return words.isEmpty ? "account" : words.joined(separator: " ")
  }

  private static func places(_ content: NotificationContent) -> [(kind: String, id: EntityID)] {
    [
      ("server", content.serverId), ("channel", content.channelId), ("group", content.groupId),
      ("room", content.roomId),
    ].compactMap { kind, id in id.map { (kind, $0) } }
  }
}
