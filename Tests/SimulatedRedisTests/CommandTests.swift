import TestKit
import Testing

/// Random histories of single commands: the simulated Redis answers as a real one does.
@Suite struct CommandTests {
  /// The steps of one history.
  private static let stepsPerHistory = 300
  private static let seeds =
    TestEnvironment.seed..<TestEnvironment.seed
    + UInt64(max(TestEnvironment.steps(or: 2_400) / stepsPerHistory, 1))

  @Test func commandsAreAnsweredAsByRedis() async throws {
    try await withComparison { comparison in
      for seed in Self.seeds {
        var generator = CommandGenerator(seed: seed)
        let difference = try comparison.difference(generator.history(Self.stepsPerHistory))
        #expect(difference == nil, "seed \(seed): \(difference?.description ?? "")")
        if difference != nil { return }
        checkReplay(of: comparison.simulated, "seed \(seed)")
      }
    }
  }
}
