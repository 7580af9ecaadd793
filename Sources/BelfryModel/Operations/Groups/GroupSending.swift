extension GroupRecord {
  /// Refuses a member who may not send to the group now. Being allow-listed spares nobody their own mute:
  /// it is an exception from muting all. A trusted back end sends always and is not asked.
  package func requireMaySend(_ member: MemberRecord, nowMilliseconds: Int64) throws(Refusal) {
    if let until = member.rights.mutedUntilMilliseconds,
      member.rights.isMuted(nowMilliseconds: nowMilliseconds)
    {
      throw Refusal(.muted, "you are muted in this group until \(until), in milliseconds since 1970")
    }
    guard isAllMuted, member.role == .member, !member.rights.isAllowListed else { return }
    throw Refusal(.muted, "all are muted in this group; the owner, the admins and the allow-listed may send")
  }
}
