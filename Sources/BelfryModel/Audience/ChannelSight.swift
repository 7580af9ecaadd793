extension ChannelRecord {
  /// Whether the channel does not exist as far as the member is told. A public channel is never hidden, even from those
  /// who are blocked from it.
  package func isHidden(_ id: EntityID, from member: MemberRecord) -> Bool {
    type == .private && !member.sees(self, id)
  }
}

/// Whether a member of a server sees a channel and belongs to it. The one place that decides so, for operations, for
/// listings, and for type 31.
extension MemberRecord {
  /// Every member of the server sees a public channel. A private one is seen by those in its roster or on its allow list,
  /// by the owner and by the admins. Those on its block list see neither.
  package func sees(_ channel: ChannelRecord, _ id: EntityID) -> Bool {
    if isBlocked(from: id) { return false }
    return channel.type == .public || role != .member || isIn(id) || isAllowed(in: id)
  }

  /// Whether the member belongs to the channel: by its roster, or because every member of the server does.
  package func belongs(to channel: ChannelRecord, _ id: EntityID) -> Bool {
    !isBlocked(from: id) && (!channel.hasRoster || isIn(id))
  }

  package func isIn(_ channel: EntityID) -> Bool { membership.channels[channel]?.intervals.current != nil }

  package func isBlocked(from channel: EntityID) -> Bool {
    membership.channels[channel]?.blocked.current != nil
  }

  package func isAllowed(in channel: EntityID) -> Bool {
    membership.channels[channel]?.allowed.current != nil
  }

  package func isMuted(in channel: EntityID, nowMilliseconds: Int64) -> Bool {
    channelMutes[channel].map { $0 > nowMilliseconds } ?? false
  }
}
