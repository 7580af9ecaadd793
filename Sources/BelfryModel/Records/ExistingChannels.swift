/// The channels of a server that exist, as the sweep has read them.
///
/// One commit cannot change the records of all members, so a record keeps what it says of a channel when the channel is removed.
/// The sweep ends that later, a few records at a time. Otherwise a record would grow with each channel that is removed. Ids of
/// channels are random, so no later channel has the id of a removed one.
package struct ExistingChannels: Sendable {
  package let ids: Set<EntityID>
  /// The last id of the server's partition before the channels were read, and the last one after that.
  private let before: MessageID
  private let after: MessageID

  package init(_ ids: Set<EntityID>, before: MessageID, after: MessageID) {
    (self.ids, self.before, self.after) = (ids, before, after)
  }

  /// True if the channel had existed before the others were read and did not exist then. A server always has its default channel:
  /// if none was found, their table is missing, and nothing is known.
  /// - Parameter membership: a record's, which shows since when there was such a channel.
  fileprivate func lack(_ id: EntityID, of membership: Membership.Channel) -> Bool {
    isWithout(id) && membership.all.contains { $0.after < before }
  }

  /// True if there is no such channel, as far as that is known. The channel may have been created since.
  fileprivate func isWithout(_ id: EntityID) -> Bool { !ids.isEmpty && !ids.contains(id) }

  /// The end of what a record says of a removed channel. The announcements of the removal come before it.
  fileprivate var end: MessageID { after }
}

extension Membership.Channel {
  fileprivate var all: [Interval] { intervals.all + subscription.all + allowed.all + blocked.intervals.all }

  fileprivate mutating func endWithChannel(through id: MessageID) {
    leave(through: id)
    allowed.close(through: id)
    blocked.endWithMembership(through: id)
  }
}

extension MemberRecord {
  /// Ends what the record says of channels that were removed, and forgets what nobody needs any more.
  /// - Parameter existing: as read after the record. So a mute in a channel that is not among them is one in a removed channel.
  package mutating func leaveRemovedChannels(_ existing: ExistingChannels, forgottenFloor: MessageID) {
    for (id, channel) in membership.channels where existing.lack(id, of: channel) {
      membership.channels[id]?.endWithChannel(through: existing.end)
    }
    membership.forget(before: forgottenFloor)
    if !existing.ids.isEmpty { channelMutes = channelMutes.filter { existing.ids.contains($0.key) } }
  }

  /// True if the record of a former member can be removed: nothing that the account may see is within
  /// retention, and the account is neither muted nor blocked. Leaving and waiting does not lift a mute or a
  /// block.
  /// - Parameter existing: the channels of a server. A mute or a block in one that was removed is none. Nil: they are not known.
  package func isForgotten(
    retentionFloor: MessageID, nowMilliseconds: Int64, existing: ExistingChannels? = nil
  ) -> Bool {
    let mayStillSee = membership.intervals.all.contains { $0.through.map { $0 >= retentionFloor } ?? true }
    let isMuted =
      rights.isMuted(nowMilliseconds: nowMilliseconds)
      || channelMutes.contains { $0.value > nowMilliseconds && existing?.isWithout($0.key) != true }
    let isBlocked = membership.channels.contains { id, channel in
      channel.blocked.current != nil && !(existing?.lack(id, of: channel) ?? false)
    }
    return !mayStillSee && !isMuted && !isBlocked
  }
}
