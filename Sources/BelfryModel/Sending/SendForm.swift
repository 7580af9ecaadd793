/// The form of a custom send, told apart by what is given (reference §1): a place or none, a channel
/// in it or none, some accounts there or everyone.
package struct SendForm: Sendable, Hashable {
  /// Nil: the accounts need have nothing in common.
  package var space: SpaceID?
  package var channel: EntityID?
  /// Nil: everyone there, as far as the place's own rule goes.
  package var named: [AccountID]?

  package init(to space: SpaceID?, channel: EntityID? = nil, named: [AccountID]? = nil) {
    self.space = space
    self.channel = channel
    self.named = named
  }

  package init(_ content: NotificationContent) throws(Refusal) {
    let places: [(field: String, space: SpaceID)] = [
      content.serverId.map { ("serverId", .server($0)) }, content.groupId.map { ("groupId", .group($0)) },
      content.roomId.map { ("roomId", .room($0)) },
    ].compactMap(\.self)
    if places.count > 1 {
      throw .invalid(
        places[1].field, "cannot stand beside \(places[0].field): a notification goes to one place")
    }
    self.init(to: places.first?.space, channel: content.channelId, named: content.toAccids)
    guard space != nil || channel != nil || named != nil else {
      throw .invalid("serverId", "or groupId, roomId or toAccids is needed: a notification needs receivers")
    }
    guard channel == nil || space?.kind == .server else {
      throw space == nil
        ? .invalid("serverId", "is needed beside channelId")
        : .invalid("channelId", "cannot stand beside \(places[0].field): only servers have channels")
    }
  }

  package var toType: ToType {
    guard let space else { return .accounts }
    let place = channel == nil ? space.kind.toType : .channel
    return named == nil ? place : place.ofNamed
  }

  /// Whom it reaches when it names nobody.
  package var broadcastRule: Audience.Rule {
    switch space?.kind {
    case .server: .byThreshold
    case .group: .willing
    case .room: .all
    case .account, .letter, nil: .named
    }
  }
}

extension ToType {
  /// The same place, but only those who are named.
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
