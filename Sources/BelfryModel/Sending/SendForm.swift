/// The address of a custom send, by the fields that it gives: a space or none, a channel of it or none, some
/// accounts or everyone.
package struct SendForm: Sendable, Hashable {
  /// Nil: accounts by name, which need not share a space.
  package var space: SpaceID?
  package var channel: EntityID?
  /// Nil: everyone there, by the rule of the place.
  package var named: [AccountID]?

  package init(to space: SpaceID?, channel: EntityID? = nil, named: [AccountID]? = nil) {
    self.space = space
    self.channel = channel
    self.named = named
  }

  package init(_ content: NotificationContent) throws(Refusal) {
    var place: (field: String, space: SpaceID)?
    func take(_ field: String, _ space: SpaceID?) throws(Refusal) {
      guard let space else { return }
      if let place {
        throw .invalid(field, "cannot be combined with \(place.field): a notification goes to one place")
      }
      place = (field, space)
    }
    try take("serverId", content.serverId.map { .server($0) })
    try take("groupId", content.groupId.map { .group($0) })
    try take("roomId", content.roomId.map { .room($0) })
    self.init(to: place?.space, channel: content.channelId, named: content.toAccids)
    guard space != nil || channel != nil || named != nil else {
      throw .invalid(
        "serverId",
        "is missing: give serverId, groupId, roomId or toAccids, since a notification needs receivers")
    }
    guard channel == nil || space?.kind == .server else {
      guard let place else { throw .invalid("serverId", "is needed together with channelId") }
      throw .invalid("channelId", "cannot be combined with \(place.field): only servers have channels")
    }
  }

  package var toType: ToType {
    guard let space else { return .accounts }
    let place = channel == nil ? space.kind.toType : .channel
    return named == nil ? place : place.ofNamed
  }

  /// The rule of the audience when no accounts are named.
  package var broadcastRule: Audience.Rule {
    switch space?.kind {
    case .server: .byThreshold
    case .group: .willing
    case .room: .all
    case .account, .direct, nil: .named
    }
  }
}

extension ToType {
  /// The form for the same place with accounts named.
  fileprivate var ofNamed: ToType {
    switch self {
    case .server, .serverMembers: .serverMembers
    case .channel, .channelMembers: .channelMembers
    case .group, .groupMembers: .groupMembers
    case .room, .roomMembers: .roomMembers
    case .accounts: .accounts
    }
  }
}
