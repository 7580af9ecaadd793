import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import TestKit
import Testing

/// Random people in random servers with streams that are cut at random, while everything that takes time
/// takes a random while, clocks step, and the store loses its last writes. Each must be shown what is theirs exactly
/// once, in order, and told of whatever else happens to it: what was marked read, what was sent without being stored, what other devices did.
///
/// A seed repeats a simulation exactly with `SWIFT_DETERMINISTIC_HASHING=1`, as long as the hub's timers come alike: what
/// is asked for first may depend on the order of a set.
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

/// What a notification that is not stored was given, once it is known.
final class PassedID {
  var id: MessageID?
}
