import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import SimulationKit
import Synchronization
import TestKit
import Testing

/// Random people in random servers with streams that are cut at random. Every wait takes a random time,
/// clocks step, and the store loses its last writes. Each account must be shown its notifications exactly
/// once, in order, and told of all other events of its own: marks, notifications that were sent without being
/// stored, and acts of its other devices.
///
/// A seed repeats a simulation exactly with `SWIFT_DETERMINISTIC_HASHING=1`: time is simulated, too.
@Suite struct ResumeSimulationTests {
  /// The steps of one simulation, before everything settles.
  static let steps = 250

  @Test(
    arguments: TestEnvironment.runs(
      of: "ResumeSimulationTests/everyEntryOnceInOrder", count: TestEnvironment.steps(or: 10 * steps)))
  func everyEntryOnceInOrder(run: SeededRun) throws {
    for seed in run.simulationSeeds(stepsEach: Self.steps) {
      let failures = try failures(seed: seed)
      #expect(
        failures.isEmpty, "BELFRY_SEED=\(seed) BELFRY_STEPS=1: \(failures.prefix(3).joined(separator: "; "))")
    }
  }

  /// An error is one of them, so that its seed is printed, too.
  private func failures(seed: UInt64) throws -> [String] {
    try Simulation.play(seed: seed) { simulation in
      let loop = try simulation.addHost("broker").makeLoop("0")
      let failures = Mutex<[String]?>(nil)
      Task(executorPreference: loop) {
        let found = try? await withScope(on: loop) { loop, scope in
          do {
            let stage = try ResumeStage(loop: loop, scope: scope, seed: seed)
            try await stage.play(steps: Self.steps)
            return stage.settled
          } catch {
            return ["\(error)"]
          }
        }
        failures.withLock { $0 = found ?? ["it has no outcome"] }
      }
      try simulation.run { failures.withLock { $0 != nil } }
      return failures.withLock { $0 ?? [] }
    }
  }
}

/// The id that a notification was given that is not stored, once it is known.
final class PassedID {
  var id: MessageID?
}
