extension MemberRecord {
  /// Whether a former member's record can go: nothing that they may see is left, and nothing is forbidden
  /// to them. Nobody gets rid of a mute or a block by leaving, waiting for a while and coming back.
  package func isForgotten(retentionFloor: MessageID, nowMilliseconds: Int64) -> Bool {
    let mayStillSee = membership.intervals.all.contains { $0.through.map { $0 >= retentionFloor } ?? true }
    return !mayStillSee && !isRestrained(nowMilliseconds: nowMilliseconds)
  }

  private func isRestrained(nowMilliseconds: Int64) -> Bool {
    rights.isMuted(nowMilliseconds: nowMilliseconds)
      || channelMutes.values.contains { $0 > nowMilliseconds }
      || membership.channels.values.contains { $0.blocked.current != nil }
  }
}
