// A right of a member in a group or a server stands in the member's own record, where a send finds it, and in
// a table that lists everybody who has it. Both change in the same commit.

extension Draft {
  /// Changes the rights of members and how the table lists them; nil: no longer. Gives those for whom that
  /// made a difference. Needs their `member` records.
  mutating func changeRights(
    of accounts: [AccountID], in table: RecordTable, as text: String?,
    _ body: (inout MemberRecord.Rights) -> Void
  ) throws(Refusal) -> [AccountID] {
    var changed: [AccountID] = []
    for account in accounts {
      let before = try knownMember(account)
      var member = before
      body(&member.rights)
      guard member != before else { continue }
      set(member, for: account)
      change(RecordAddress(space, table, account.text), to: text)
      changed.append(account)
    }
    return changed
  }

  /// Mutes members for so long from now, or lets them send again (nil). A mute that has run out ended by itself, so nobody is
  /// told that it ends now. Needs their `member` records.
  /// - Returns: those for whom that made a difference, and until when they are muted, milliseconds since 1970.
  mutating func changeMutes(
    of accounts: [AccountID], lastingMilliseconds duration: Int64?
  ) throws(Refusal) -> (changed: [AccountID], until: Int64?) {
    try requireSome(accounts)
    for account in accounts { try requireRankAbove(try knownMember(account)) }
    let until = try duration.map { duration throws(Refusal) in
      try endOfMute(lastingMilliseconds: duration)
    }
    var concerned = accounts
    if duration == nil {
      concerned = []
      for account in accounts
      where try knownMember(account).rights.isMuted(nowMilliseconds: nowMilliseconds) {
        concerned.append(account)
      }
    }
    let text = until.map { ExpiringText(expiresAtMilliseconds: $0).text }
    let changed = try changeRights(of: concerned, in: .muted, as: text) {
      $0.mutedUntilMilliseconds = until
    }
    return (changed, until)
  }

  /// Until when a mute of this length lasts, milliseconds since 1970.
  private func endOfMute(lastingMilliseconds duration: Int64) throws(Refusal) -> Int64 {
    guard (1...Limits.muteMaximumMilliseconds).contains(duration) else {
      throw .invalid("durationMilliseconds", "must be 1 to \(Limits.muteMaximumMilliseconds)")
    }
    return nowMilliseconds + duration
  }
}
