import TestKit
import Testing

/// A random walk over the whole store, functions included, on which a simulated Redis answers each command with the bytes of a
/// real one.
@Suite(.serialized)
struct SimulatedRedisWalkTests {
  @Test(
    arguments: TestEnvironment.runs(
      of: "SimulatedRedisWalkTests/simulatedRedisAnswersAsRedis", count: TestEnvironment.steps(or: 100)))
  func simulatedRedisAnswersAsRedis(run: SeededRun) async throws {
    var (seed, taken) = (run.seed, 0)
    while taken < run.count {
      let steps = Array(Trace.steps(seed: seed).prefix(run.count - taken))
      try await walk(steps, seed)
      taken += steps.count
      seed += 1
    }
  }

  private func walk(_ steps: [Step], _ seed: UInt64) async throws {
    try await withComparedWorlds { worlds, link in
      let divergence = await worlds.divergence(steps)
      #expect(divergence == nil, "seed \(seed): \(divergence?.description ?? "")")
      let difference = link.difference
      #expect(difference == nil, "seed \(seed):\n\(difference ?? "")")
      // A walk that calls no functions says nothing about Lua.
      #expect(link.counts.keys.contains { $0.hasPrefix("FCALL ") })
      #expect(link.messageCount > 0)
    }
  }
}
