import SimulatedRedis
import TestKit
import Testing

/// A real Redis and a simulated one, whose clocks stand still between two steps.
final class Comparison {
  let server: RedisServer
  private let real: RealRedis
  private let clock: ShiftedClock
  private(set) var simulated: SimulatedRedis
  private var options = SimulatedRedis.Options()
  private var client = SimulatedClient(id: 1)
  private var now = Comparison.firstTime
  /// How many commands were answered without an error, and with one.
  private(set) var counts: [Bool: Int] = [:]
  /// Steps that both take at the beginning of each history.
  var beginning: [Step] = []
  /// Brings both into a state at the beginning of each history, and the real one out of it again.
  var prepare: ((_ real: ([String]) throws -> SimulatedReply, SimulatedRedis) throws -> Void)?
  var finish: ((_ real: ([String]) throws -> SimulatedReply) throws -> Void)?

  /// 2026-11-29, in microseconds.
  private static let firstTime: Int64 = 1_795_910_400_123_456

  init(_ server: RedisServer, _ clock: ShiftedClock) throws {
    (self.server, self.clock) = (server, clock)
    real = try RealRedis(server)
    let facts = try server.command("INFO", "server").split(whereSeparator: \.isNewline)
    options.runID = String(facts.first { $0.hasPrefix("run_id:") }?.dropFirst(7) ?? "")
    simulated = SimulatedRedis(options)
  }

  /// Plays the steps on both. If they differ, finds a short history with a difference.
  func difference(_ steps: [Step]) throws -> Difference? {
    guard var found = try play(steps) else { return nil }
    var size = max(found.steps.count / 2, 1)
    var tries = 0
    while size >= 1, tries < Self.shrinksMax {
      var (start, isShorter) = (0, false)
      while start < found.steps.count, tries < Self.shrinksMax {
        var shorter = found.steps
        shorter.removeSubrange(start..<min(start + size, shorter.count))
        tries += 1
        if let again = try play(shorter) {
          (found, isShorter) = (again, true)
        } else {
          start += size
        }
      }
      if !isShorter { size /= 2 }
    }
    return found
  }

  private static let shrinksMax = 400

  /// Expects the same answers to each of the steps.
  func check(_ steps: [Step], sourceLocation: SourceLocation = #_sourceLocation) throws {
    let difference = try difference(steps)
    #expect(difference == nil, "\(difference?.description ?? "")", sourceLocation: sourceLocation)
  }

  /// - Returns: the first difference, with the steps up to there.
  private func play(_ steps: [Step]) throws -> Difference? {
    try begin()
    defer { try? finish?(askByWords) }
    for (index, step) in steps.enumerated() {
      if let (real, simulated) = try playStep(step) {
        return Difference(steps: Array(steps[...index]), real: real, simulated: simulated)
      }
    }
    return nil
  }

  private func begin() throws {
    now = Self.firstTime
    try clock.standStill(atMicroseconds: now)
    for words in [["DISCARD"], ["FLUSHALL"], ["FUNCTION", "FLUSH"], ["SCRIPT", "FLUSH"]] {
      _ = try real.ask(words.map { Bytes($0.utf8) })
    }
    simulated = SimulatedRedis(options)
    client = SimulatedClient(id: 1)
    for step in beginning { _ = try playStep(step) }
    try prepare?(askByWords, simulated)
  }

  /// - Returns: both replies, if they differ.
  private func playStep(_ step: Step) throws -> (SimulatedReply, SimulatedReply)? {
    switch step {
    case .wait(let milliseconds):
      now += milliseconds * 1_000
      try clock.standStill(atMicroseconds: now)
      return nil
    case .command(let words):
      let answers = (try real.ask(words), ask(words))
      counts[answers.1.isError, default: 0] += 1
      return simulated.areEqual(answers.0, answers.1, to: words) ? nil : answers
    case .scan(let words):
      let answers = (try scan(words) { try real.ask($0) }, try scan(words) { ask($0) })
      return answers.0.sorted == answers.1.sorted ? nil : answers
    }
  }

  private func askByWords(_ words: [String]) throws -> SimulatedReply {
    try real.ask(words.map { Bytes($0.utf8) })
  }

  private func ask(_ words: [Bytes]) -> SimulatedReply {
    simulated.execute(words, on: &client, at: now).replies.last ?? .null
  }

  private func scan(
    _ words: [Bytes], _ ask: ([Bytes]) throws -> SimulatedReply
  ) throws -> SimulatedReply {
    let place = words[0] == Bytes("SCAN".utf8) ? 1 : 2
    var (found, cursor) = (Set<SimulatedReply>(), Bytes("0".utf8))
    repeat {
      let reply = try ask(words[..<place] + [cursor] + words[place...])
      guard case .array(let parts) = reply, parts.count == 2, case .bulk(let next) = parts[0],
        case .array(let elements) = parts[1]
      else { return reply }
      // Redis may give an element twice while a table grows or shrinks.
      if words[0] == Bytes("HSCAN".utf8) {
        found.formUnion(parts[1].pairs)
      } else {
        found.formUnion(elements)
      }
      cursor = next
    } while cursor != Bytes("0".utf8)
    return .array(Array(found))
  }
}

/// Gives the body a real and a simulated Redis to compare.
func withComparison(
  _ settings: [String: String] = [:], _ body: (Comparison) async throws -> Void
) async throws {
  let clock = try await ShiftedClock()
  var options = RedisServer.Options()
  (options.listensOnTCP, options.clock, options.settings) = (true, clock, settings)
  try await withRedisServer(options) { try await body(try Comparison($0, clock)) }
}
