import BelfryModel
import ModelSamples
import TestKit
import Testing

struct MemberRecordTests {
  static let since = MessageID(streamForm: "1763700000000-4096") ?? .zero
  static let later = MessageID(streamForm: "1763700000001-4096") ?? .zero

  @Test(arguments: [
    (MemberRecord(role: .member, membership: Membership(intervals: .since(since))), "m 1763700000000-4096"),
    (
      MemberRecord(
        role: .admin, membership: Membership(intervals: Intervals([Interval(after: since, through: later)]))),
      "a 1763700000000-4096,1763700000001-4096"
    ),
    (
      MemberRecord(
        role: .owner, membership: Membership(intervals: .since(since), subscription: .since(later))),
      "o 1763700000000-4096 s/1763700000001-4096"
    ),
    (
      MemberRecord(
        role: .member,
        membership: Membership(
          intervals: .since(since),
          channels: [
            77: .init(intervals: .since(since), subscription: .since(later)),
            9: .init(
              subscription: Intervals([Interval(after: since, through: later), Interval(after: later)])),
          ])),
      "m 1763700000000-4096 d9/1763700000000-4096,1763700000001-4096;1763700000001-4096"
        + " c77/1763700000000-4096 d77/1763700000001-4096"
    ),
  ])
  func text(record: MemberRecord, text: String) {
    #expect(record.text == text)
    #expect(MemberRecord(text: text) == record)
  }

  @Test func textRoundTrips() {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    for _ in 0..<5_000 {
      let record = random.memberRecord()
      #expect(MemberRecord(text: record.text) == record, "seed \(TestEnvironment.seed): \(record.text)")
    }
  }

  @Test(arguments: [
    "", "m", "m ", "m ;", "x 1763700000000-4096", "M 1763700000000-4096", "mm 1763700000000-4096",
    "m 1763700000000", "m 1763700000000-4096,", "m ,1763700000000-4096", "m 1763700000000-4096;",
    "m 1763700000000-4096,1763700000000-4097,1763700000000-4098", "m 1763700000000-4096 s",
    "m 1763700000000-4096 s/", "m 1763700000000-4096 c77", "m 1763700000000-4096 c/1763700000000-4096",
    "m 1763700000000-4096 c0/1763700000000-4096", "m 1763700000000-4096 e77/1763700000000-4096",
    "m 1763700000000-4096 c77/", "m \u{1}", "m 1763700000000-4096,\u{2}",
  ])
  func whatIsNoRecord(text: String) { #expect(MemberRecord(text: text) == nil) }
}
