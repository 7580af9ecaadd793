extension ChannelRecord {
  /// Whether the member is told that there is no such channel. A public one from which somebody is blocked is no secret.
  package func isHidden(_ id: EntityID, from member: MemberRecord) -> Bool {
    type == .private && !member.sees(self, id)
  }
}

/// What a channel is to a member of its server. The one place that decides it: what operations ask, what
/// HTTP lists, whom type 31 tells.
extension MemberRecord {
  /// A public channel is there for every member of the server; a private one for those in its roster,
  /// those on its allow list, and the owner and the admins. For who is on its block list neither is.
  package func sees(_ channel: ChannelRecord, _ id: EntityID) -> Bool {
    if isBlocked(from: id) { return false }
    return channel.type == .public || role != .member || isIn(id) || isAllowed(in: id)
  }

  /// Whether the member is one of the channel's: by its roster, or because it is everyone's.
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
