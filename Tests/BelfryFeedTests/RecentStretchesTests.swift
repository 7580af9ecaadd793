import BelfryModel
import BelfryStore
import TestKit
import Testing

@testable import BelfryFeed

/// The stretches of logs that counts share: the same as each would read, and read once.
@Suite struct RecentStretchesTests {
  private let space = SpaceID.server(7)

  private func id(_ number: Int) -> MessageID {
    MessageID(firstAtUnixMilliseconds: 1_800_000_000_000 + Int64(number))
  }

  private func entry(_ number: Int, _ content: String? = nil) -> LogEntry {
    let text = content ?? #"{"body":"\(String(repeating: "long ", count: 100))","type":\(100 + number % 3)}"#
    return LogEntry(
      id: id(number), audience: Audience(.all), contentJSON: text)
  }

  /// Answers as a store does, and counts the entries that it gives.
  private final class Log {
    var entries: [LogEntry] = []
    var given = 0

    func read(_ requests: [LogRequest]) -> [[LogEntry]] {
      requests.map { request in
        let some = Array(
          entries.filter { $0.id > request.after && $0.id <= request.through }.prefix(request.limit))
        given += some.count
        return some
      }
    }
  }

  private func ask(
    _ recent: RecentStretches, _ log: Log, in space: SpaceID? = nil, after: Int, limit: Int,
    history: String = "0"
  ) async throws -> [LogEntry] {
    let request = LogRequest(
      space ?? self.space, after: id(after), through: log.entries.last?.id ?? .zero, limit: limit)
    return try await recent.entries([request], history: history) { requests throws(StoreError) in
      log.read(requests)
    }[0]
  }

  private func judged(_ entries: [LogEntry]) -> [String] {
    entries.map {
      "\($0.id) \($0.type) \($0.isRecalled) \($0.audience.text) \(String(describing: $0.updates))"
    }
  }

  @Test func whatOneHasReadIsNotReadForTheNext() async throws {
    let (recent, log) = (RecentStretches(), Log())
    log.entries = (1...50).map { entry($0) }
    _ = try await ask(recent, log, after: 10, limit: 128)
    for after in [10, 30, 49] { _ = try await ask(recent, log, after: after, limit: 128) }
    #expect(log.given == 40)
    // For an account that joined earlier only the missing part is read, and it is known from then on.
    _ = try await ask(recent, log, after: 4, limit: 128)
    _ = try await ask(recent, log, after: 4, limit: 128)
    #expect(log.given == 40 + 46)
    // A recalled one says so only in what is read after the log has gone on.
    log.entries[20].content = []
    log.entries.append(entry(51))
    #expect(try await ask(recent, log, after: 4, limit: 128)[16].isRecalled)
  }

  @Test func whatIsOnesOwnAndWhatBelongsToAnotherHistoryIsNotKept() async throws {
    let (recent, log) = (RecentStretches(), Log())
    log.entries = [entry(1), entry(2)]
    let own = SpaceID.personal("bob")
    for _ in 0..<2 { _ = try await ask(recent, log, in: own, after: 0, limit: 9) }
    #expect(log.given == 4)
    for history in ["0", "1", "1"] { _ = try await ask(recent, log, after: 0, limit: 9, history: history) }
    #expect(log.given == 8)
  }

  @Test func itSaysWhatTheLogSays() async throws {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    let (recent, log) = (RecentStretches(), Log())
    var last = 0
    for number in 1...3_000 {
      if log.entries.isEmpty || random.oneIn(3) {
        last += 1 + random.below(3)
        var next = entry(last)
        if !log.entries.isEmpty, random.oneIn(4) {
          let place = random.below(log.entries.count)
          next.updates = log.entries[place].id
          if random.oneIn(2) { log.entries[place].content = [] }
        }
        log.entries.append(next)
      }
      let after = random.below(last + 1)
      let limit = 1 + random.below(random.oneIn(2) ? 4 : 2_000)
      let answer = try await ask(recent, log, after: after, limit: limit)
      let request = LogRequest(
        space, after: id(after), through: id(last), limit: limit)
      #expect(judged(answer) == judged(log.read([request])[0]), "seed \(TestEnvironment.seed), \(number)")
    }
  }
}
