import BelfryModel
import ModelSamples
import Testing

/// The members of a group that may send to it.
struct GroupSendingTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var role = MemberRole.member
    var mutedUntil: Int64?
    var isAllowListed = false
    var maySend: Bool
    var maySendWhenAllAreMuted: Bool
  }

  static let now: Int64 = 1_000

  static let rows: [Row] = [
    Row(testDescription: "owner", role: .owner, maySend: true, maySendWhenAllAreMuted: true),
    Row(testDescription: "admin", role: .admin, maySend: true, maySendWhenAllAreMuted: true),
    Row(testDescription: "member", maySend: true, maySendWhenAllAreMuted: false),
    Row(testDescription: "allow-listed", isAllowListed: true, maySend: true, maySendWhenAllAreMuted: true),
    Row(testDescription: "muted", mutedUntil: now + 1, maySend: false, maySendWhenAllAreMuted: false),
    Row(
      testDescription: "muted and allow-listed", mutedUntil: now + 1, isAllowListed: true, maySend: false,
      maySendWhenAllAreMuted: false),
    Row(
      testDescription: "a muted admin", role: .admin, mutedUntil: now + 1, maySend: false,
      maySendWhenAllAreMuted: false),
    Row(testDescription: "no longer muted", mutedUntil: now, maySend: true, maySendWhenAllAreMuted: false),
    Row(
      testDescription: "no longer muted, allow-listed", mutedUntil: now, isAllowListed: true, maySend: true,
      maySendWhenAllAreMuted: true),
  ]

  @Test(arguments: rows)
  func isAllowedOrRefused(row: Row) {
    var member = MemberRecord(role: row.role, membership: .always)
    member.rights = .init(mutedUntilMilliseconds: row.mutedUntil, isAllowListed: row.isAllowListed)
    #expect(refusal(of: member, isAllMuted: false) == (row.maySend ? nil : .muted))
    #expect(refusal(of: member, isAllMuted: true) == (row.maySendWhenAllAreMuted ? nil : .muted))
  }

  @Test func theRefusalTellsTheTime() throws {
    var member = MemberRecord(role: .member, membership: .always)
    member.rights = .init(mutedUntilMilliseconds: 1_798_131_600_000)
    let group = GroupRecord(
      name: "Ringers", style: .publicOpen, owner: "olga", createdAt: 0, maxMembers: 10)
    let refusal = #expect(throws: Refusal.self) {
      try group.requireMaySend(member, nowMilliseconds: 1_798_131_500_000)
    }
    #expect(refusal?.detail == "you are muted in this group until 2026-12-24T17:00:00.000Z")
  }

  private func refusal(of member: MemberRecord, isAllMuted: Bool) -> Refusal.Code? {
    var group = GroupRecord(
      name: "Ringers", style: .publicOpen, owner: "olga", createdAt: 0, maxMembers: 10)
    group.isAllMuted = isAllMuted
    do {
      try group.requireMaySend(member, nowMilliseconds: Self.now)
      return nil
    } catch {
      return error.code
    }
  }
}
