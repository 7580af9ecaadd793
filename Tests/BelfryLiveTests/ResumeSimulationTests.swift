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
/// `BELFRY_SEED` repeats a run, and does so exactly with `SWIFT_DETERMINISTIC_HASHING=1`: what is asked for first may
/// depend on the order of a set.
@Suite struct ResumeSimulationTests {
  @Test(arguments: 0..<(TestEnvironment.givenSeed == nil ? 10 : 1))
  func everyEntryOnceInOrder(run: Int) async throws {
    let seed = TestEnvironment.seed &+ UInt64(run)
    let failures = try await failures(seed: seed, steps: 250)
    #expect(failures.isEmpty, "BELFRY_SEED=\(seed): \(failures.prefix(3).joined(separator: "; "))")
  }

  /// An error is one of them, so that its seed is printed, too.
  private func failures(seed: UInt64, steps: Int) async throws -> [String] {
    try await withLoop { loop, scope in
      do {
        let stage = try ResumeStage(loop: loop, scope: scope, seed: seed)
        try await stage.play(steps: steps)
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
