import BelfryModel
import ModelSamples
import Testing

/// Names that anybody can make in seconds, so that a hash for partitions takes them for one.
enum CollidingNames {
  static let accounts: (AccountID, AccountID) = ("8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ")
}

struct RequestIDTests {
  @Test func nobodyTakesAnothersRequest() {
    let (one, other) = CollidingNames.accounts
    #expect(
      StableHash.fnv1a("application group:10  \(one)") == StableHash.fnv1a("application group:10  \(other)"))
    #expect(
      RequestID(.application, of: one, in: .group(10)) != RequestID(.application, of: other, in: .group(10)))
  }

  @Test func aRequestHasTheSameIdEachTime() {
    #expect(GroupDesk.application("ann") == GroupDesk.application("ann"))
    let requests = [
      RequestID(.application, of: "ann", in: .group(5)), RequestID(.invitation, of: "ann", in: .group(5)),
      RequestID(.application, of: "ben", in: .group(5)), RequestID(.application, of: "ann", in: .group(6)),
      RequestID(.channelInvitation, of: "ann", in: .server(5), channel: 6),
      RequestID(.channelInvitation, of: "ann", in: .server(5), channel: 7),
    ]
    #expect(Set(requests).count == requests.count)
  }

  /// An account that has found two names with one id must not have the one's request accepted as the other's.
  @Test func aRequestDoesNotReplaceAnothersUnderTheSameId() throws {
    var desk = try GroupDesk.desk()
    let id = GroupDesk.application("sam")
    let others = RequestRecord(.application, of: "sue", message: "please")
    let waiting = ExpiringText(
      expiresAtMilliseconds: desk.nowMilliseconds + 1_000, rest: try RecordJSON.text(others))
    desk.texts[.request(id, of: GroupDesk.space)] = waiting.text
    #expect(desk.refusal(of: GroupDesk.apply("sam"))?.code == .conflict)
    desk.nowMilliseconds += 1_000
    #expect(desk.refusal(of: GroupDesk.apply("sam")) == nil)
  }
}
