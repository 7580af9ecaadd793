import BelfryLoop
import Synchronization
import Testing

@Suite struct PeriodicWorkTests {
  private final class Events: Sendable {
    private let noted = Mutex<[WorkFailures.Event]>([])
    var all: [WorkFailures.Event] { noted.withLock(\.self) }
    func note(_ event: WorkFailures.Event) { noted.withLock { $0.append(event) } }
  }

  private struct Trouble: Error, CustomStringConvertible {
    let description: String
  }

  /// Runs the work until it has had so many rounds.
  private func run(
    _ failures: WorkFailures, rounds: Int,
    _ work: @escaping @Sendable (_ round: Int) throws -> Void
  ) async throws {
    try await withLoop { resident in
      await resident.run { resident in
        let scope = LoopScope(on: resident.loop)
        var round = 0
        let periodic = PeriodicWork("sweep", every: .milliseconds(1)) {
          round += 1
          if round == rounds { scope.close() }
          try work(round)
        }
        scope.start { await periodic.run(on: resident.loop, noting: failures) }
        await scope.run()
      }
    }
  }

  @Test func aRowOfFailuresIsReportedOnceAndSoIsItsEnd() async throws {
    let events = Events()
    let failures = WorkFailures { events.note($0) }
    try await run(failures, rounds: 5) { round throws in
      if round <= 2 { throw Trouble(description: "failure \(round)") }
    }
    #expect(failures.totals == ["sweep": 2])
    guard case .fails(work: "sweep", subject: _, cause: "failure 1")? = events.all.first else {
      Issue.record("the first failure is reported first: \(events.all)")
      return
    }
    #expect(events.all.dropFirst() == [.succeedsAgain(work: "sweep", failures: 2)])
  }

  @Test func theNextRowIsReportedAgain() async throws {
    let events = Events()
    let failures = WorkFailures { events.note($0) }
    try await run(failures, rounds: 6) { round throws in
      if round % 2 == 0, round < 6 { throw Trouble(description: "even") }
    }
    #expect(failures.totals == ["sweep": 2])
    #expect(events.all.count == 4)
  }

  @Test func cancelledWorkEndsQuietly() async throws {
    let events = Events()
    let failures = WorkFailures { events.note($0) }
    try await withLoop { resident in
      await resident.run { resident in
        let loop = resident.loop
        let scope = LoopScope(on: loop)
        var rounds = 0
        // It is cancelled in its first round, which fails by that.
        let first = PeriodicWork("sweep", every: .seconds(3_600)) {
          rounds += 1
          scope.close()
          try await loop.sleep(for: .seconds(3_600))
        }
        // It is cancelled before its first round.
        let second = PeriodicWork("relays", every: .seconds(3_600), start: .afterInterval) { rounds += 1 }
        scope.start { await second.run(on: loop, noting: failures) }
        scope.start { await first.run(on: loop, noting: failures) }
        await scope.run()
        #expect(rounds == 1)
      }
    }
    #expect(events.all == [])
    #expect(failures.totals == ["sweep": 0, "relays": 0])
  }

  @Test func oneSubjectThatFailsAmongManyIsReportedOnce() async throws {
    let events = Events()
    let failures = WorkFailures { events.note($0) }
    for _ in 0..<3 {
      failures.noteFailure(of: "webhooks", on: "lane 1", because: "no answer")
      failures.noteSuccess(of: "webhooks", on: "lane 2")
    }
    failures.noteFailure(of: "webhooks", on: "lane 3", because: "no answer")
    failures.noteSuccess(of: "webhooks", on: "lane 1")
    #expect(events.all == [.fails(work: "webhooks", subject: "lane 1", cause: "no answer")])
    failures.giveUp("webhooks", on: "lane 3")
    #expect(events.all.last == .succeedsAgain(work: "webhooks", failures: 4))
    #expect(failures.totals == ["webhooks": 4])
  }

  @Test func anAbsenceOfTheStoreIsReportedOnceForAllWork() async throws {
    let events = Events()
    let failures = WorkFailures(isStoreAway: { "\($0)" == "no answer" }) { events.note($0) }
    await failures.watch("push", on: "account") { throw Trouble(description: "no answer") }
    #expect(events.all == [])
    for _ in 0..<2 {
      for work in ["sweep", "relays", "rooms"] {
        await failures.watch(work, on: "loop", isRegular: true) { throw Trouble(description: "no answer") }
      }
    }
    await failures.watch("push", on: "account") { throw Trouble(description: "no answer") }
    #expect(events.all == [.storeIsAway(work: "sweep", cause: "no answer")])
    await failures.watch("webhooks", on: "lane 1") { throw Trouble(description: "refused") }
    #expect(events.all.dropFirst() == [.fails(work: "webhooks", subject: "lane 1", cause: "refused")])

    failures.noteSuccess(of: "sweep", on: "loop")
    failures.noteSuccess(of: "relays", on: "loop")
    #expect(events.all.count == 2)
    // The store is back, and the work fails for a reason of its own.
    await failures.watch("rooms", on: "loop", isRegular: true) { throw Trouble(description: "unreadable") }
    #expect(
      events.all.dropFirst(2) == [
        .storeIsBack(failures: 7), .fails(work: "rooms", subject: "loop", cause: "unreadable"),
      ])
    #expect(failures.totals == ["sweep": 2, "relays": 2, "rooms": 3, "webhooks": 1, "push": 2])
  }

  @Test func successWithoutFailuresIsNotReported() async throws {
    let events = Events()
    let failures = WorkFailures { events.note($0) }
    failures.announce("rooms")
    #expect(await failures.watch("rooms", on: "loop") { 7 } == 7)
    #expect(events.all == [])
    #expect(failures.totals == ["rooms": 0])
  }
}
