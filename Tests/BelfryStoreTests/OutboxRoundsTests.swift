import BelfryModel
import ModelSamples
import Testing

@testable import BelfryStore

/// The relays that take turns, and the messages that leave together.
@Suite struct OutboxRoundsTests {
  // MARK: Turns

  /// The relay that was under way may end before the caller that found it begins to wait.
  @Test func whoComesToWaitTooLateRelaysThemselves() {
    var turns = RelayTurns<Int>()
    let here = Partitions.standard.all[0]
    let first = (turns.begin(here), turns.begin(here))
    #expect(first == (true, false))
    _ = turns.end(here)
    let late = turns.wait(1, for: here)
    #expect(late == 1)
    let (isFree, next) = (turns.begin(here), turns.wait(2, for: here))
    #expect(!isFree && next == nil)
    let ended = turns.end(here)
    #expect(ended.leader == 2)
  }

  @Test func whoComesWhileOneRelaysSharesTheNext() {
    var turns = RelayTurns<Int>()
    let (here, there) = (Partitions.standard.all[0], Partitions.standard.all[1])
    let first = (turns.begin(here), turns.begin(here))
    #expect(first == (true, false))
    for waiter in 1...3 { _ = turns.wait(waiter, for: here) }
    let elsewhere = turns.begin(there)
    #expect(elsewhere, "partitions do not wait for each other")
    var ended = turns.end(here)
    #expect(ended.sharing == [] && ended.leader == 1, "nobody shares what began before they came")
    let second = turns.begin(here)
    #expect(!second)
    _ = turns.wait(4, for: here)
    ended = turns.end(here)
    #expect(ended.sharing == [2, 3] && ended.leader == 4)
    ended = turns.end(here)
    #expect(ended.sharing == [] && ended.leader == nil)
    let last = turns.begin(here)
    #expect(last)
  }

  // MARK: Rounds

  private static func item(
    _ sequence: Int64, _ changes: [IndexChange], deliveries: [Delivery] = [], in space: SpaceID = space
  ) -> OutboxItem {
    let version = MessageID(
      unixMilliseconds: 1_763_700_000_000, partition: space.partition, sequence: sequence)
    return OutboxItem(
      space: space, version: version, before: version.predecessor,
      relays: Relays(index: changes, deliveries: deliveries))
  }

  private static func rounds(_ work: inout OutboxRounds, failing: Set<AccountID> = []) -> [[Int]] {
    var rounds: [[Int]] = []
    while true {
      let round = work.nextRound()
      if round.isEmpty { return rounds }
      rounds.append(round.map(\.item))
      for message in round where message.subject.account.map(failing.contains) == true { work.fail(message) }
    }
  }

  @Test func whatConcernsDifferentAccountsOrSpacesGoesTogether() {
    var work = OutboxRounds(
      [
        Self.item(0, [IndexChange(.joined, ["bob"])]), Self.item(1, [IndexChange(.joined, ["carol"])]),
        Self.item(2, [IndexChange(.joined, ["bob"])], in: .server(78)),
        Self.item(
          3, [IndexChange(.left, ["dave"])],
          deliveries: [Delivery(.custom("one"), to: "dave"), Delivery(.custom("two"), to: "dave")]),
      ], held: [])
    let rounds = Self.rounds(&work)
    #expect(rounds == [[0, 1, 2, 3, 3, 3]])
    #expect(work.done.count == 4)
  }

  @Test func whatOneAccountIsToldOfOneSpaceGoesOneAfterTheOther() {
    var work = OutboxRounds(
      [
        Self.item(0, [IndexChange(.joined, ["bob", "carol"])]), Self.item(1, [IndexChange(.left, ["bob"])]),
        Self.item(2, [IndexChange(.joined, ["bob"])]),
      ], held: [])
    let rounds = Self.rounds(&work)
    #expect(rounds == [[0, 0], [1], [2]])
  }

  /// And nothing else.
  @Test func whoeverCannotBeToldIsToldNothingLater() {
    let items = [
      Self.item(0, [IndexChange(.joined, ["bob", "carol"])]), Self.item(1, [IndexChange(.left, ["bob"])]),
      Self.item(2, [IndexChange(.left, ["carol"])]),
      Self.item(3, [IndexChange(.joined, ["bob"])], in: .server(78)),
    ]
    var work = OutboxRounds(items, held: [])
    let rounds = Self.rounds(&work, failing: ["bob"])
    #expect(rounds == [[0, 0], [2, 3]])
    #expect(work.done.map(\.version) == [items[2].version])
    // Later ones keep waiting until all of it is tried again.
    var later = OutboxRounds([Self.item(4, [IndexChange(.joined, ["bob", "dave"])])], held: work.held)
    let none = Self.rounds(&later)
    #expect(none == [[0]])
    #expect(later.done.isEmpty && later.held == work.held)
  }

  @Test func theAccountsOfAPartitionShareACall() {
    let partition = SpaceID.personal("bob").partition
    let others = (0..<100_000).lazy.compactMap { AccountID("member\($0)") }
      .filter { SpaceID.personal($0).partition == partition }.prefix(60)
    var work = OutboxRounds(
      [
        Self.item(0, [IndexChange(.joined, others + ["bob", "carol"])]),
        Self.item(1, [], deliveries: [Delivery(.custom("come"), to: "bob")], in: .server(78)),
      ], held: [])
    let calls = RelayCall.calls(for: work.nextRound(), among: .standard)
    #expect(calls.map(\.messages.count) == [50, 11, 1, 1])
    #expect(calls.map(\.function) == [.relay, .relay, .relay, .deliver])
  }

  @Test func aRoundIsLimited() {
    let accounts = (0..<450).compactMap { AccountID("member\($0)") }
    var work = OutboxRounds([Self.item(0, [IndexChange(.joined, accounts)])], held: [])
    let rounds = Self.rounds(&work).map(\.count)
    #expect(rounds == [200, 200, 50])
  }
}
