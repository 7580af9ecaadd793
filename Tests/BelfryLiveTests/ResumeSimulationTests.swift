import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import TestKit
import Testing

/// Random people in random servers with streams that are cut at random. Every wait takes a random time,
/// clocks step, and the store loses its last writes. Each account must be shown its notifications exactly
/// once, in order, and told of all other events of its own: marks, notifications that were sent without being
/// stored, and acts of its other devices.
///
/// A seed repeats a simulation exactly with `SWIFT_DETERMINISTIC_HASHING=1`, as long as the hub's timers fire
/// in the same order: the order of questions may depend on the order of a set.
@Suite struct ResumeSimulationTests {
  /// The steps of one simulation, before everything settles.
  static let steps = 250

  @Test(
    arguments: TestEnvironment.runs(
      of: "ResumeSimulationTests/everyEntryOnceInOrder", count: TestEnvironment.steps(or: 10 * steps)))
  func everyEntryOnceInOrder(run: SeededRun) async throws {
    for simulation in 0..<(run.count + Self.steps - 1) / Self.steps {
      let seed = run.seed &+ UInt64(simulation)
      let failures = try await failures(seed: seed)
      #expect(
        failures.isEmpty, "BELFRY_SEED=\(seed) BELFRY_STEPS=1: \(failures.prefix(3).joined(separator: "; "))")
    }
  }

  /// An error is one of them, so that its seed is printed, too.
  private func failures(seed: UInt64) async throws -> [String] {
    try await withLoop { loop, scope in
      do {
        let stage = try ResumeStage(loop: loop, scope: scope, seed: seed)
        try await stage.play(steps: Self.steps)
        return stage.settled
      } catch {
        return ["\(error)"]
      }
    }
  }
}

/// The id that a notification was given that is not stored, once it is known.
final class PassedID {
  var id: MessageID?
}
