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

  /// Until when a mute of this length lasts, milliseconds since 1970.
  func endOfMute(lastingMilliseconds duration: Int64) throws(Refusal) -> Int64 {
    guard (1...Limits.muteMaximumMilliseconds).contains(duration) else {
      throw .invalid("durationMilliseconds", "must be 1 to \(Limits.muteMaximumMilliseconds)")
    }
    return nowMilliseconds + duration
  }
}
