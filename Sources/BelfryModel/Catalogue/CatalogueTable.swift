/// The catalogue in words, for `belfry types` and for the documentation.
extension NotificationType {
  /// The receivers, as a phrase.
  package var receivers: String {
    var words = [parties, others.words].compactMap(\.self).joined(separator: "; ")
    switch (except, operatorPart) {
    case (let except?, .likeOthers): words += ", except \(except)"
    case (let except?, _): words += ", except \(except) and the account that acted"
    case (nil, .leftOut): words += ", except the account that acted"
    case (nil, .leftOutOfRosters): words += "; in a channel with a roster, not the account that acted"
    case (nil, .likeOthers): break
    }
    return lasting == .whileInside ? words + ", while inside" : words
  }

  /// The kinds of places in which it happens.
  package var scenes: String { [scene, otherScene].compactMap { $0?.rawValue }.joined(separator: ", ") }

  /// The accounts that may update it, as a phrase.
  package var updating: String {
    switch updaters {
    case .nobody: "–"
    case .sender: "the sender"
    case .receivers: "the receivers"
    }
  }

  package var attachText: String { attach.isEmpty ? "–" : attach.joined(separator: ", ") }
}

extension NotificationType.Others {
  fileprivate var words: String? {
    switch self {
    case .nobody: nil
    case .administrators: "owner and admins"
    case .members: "members (only subscribers in a large server)"
    case .everyMember: "every member"
    case .channel: "everyone who belongs to the channel (only subscribers in a large server)"
    case .asSent: "as sent"
    }
  }
}

extension Catalogue {
  /// docs/notification-types.md's table.
  package static var markdown: String {
    let header =
      "| code | name | in | attach | receivers | updated by | critical for |\n|---|---|---|---|---|---|---|\n"
    return header
      + all.sorted { $0.code < $1.code }.map { type in
        let cells = [
          "\(type.code)", "`\(type.name)`", type.scenes, type.attachText, type.receivers,
          type.updating, type.critical == .nobody ? "–" : type.critical.rawValue,
        ]
        return "| " + cells.joined(separator: " | ") + " |\n"
      }.joined()
  }
}
