import SimulatedRedis
import SimulationKit
import TestKit
import Testing

/// Brokers on one Redis that dies now and then and loses nothing, over a network that breaks.
@Suite struct BrokersTests {
  /// The steps of one simulation, before everything settles.
  private static let steps = 200

  @Test(
    arguments: TestEnvironment.runs(
      of: "BrokersTests/oneShowsAllOnce", count: TestEnvironment.steps(or: 2 * steps)))
  func oneShowsAllOnce(run: SeededRun) throws { try check(run, brokers: 1) }

  /// Clients come back to any of three brokers, which die too.
  @Test(
    arguments: TestEnvironment.runs(
      of: "BrokersTests/threeShowAllOnce", count: TestEnvironment.steps(or: 2 * steps)))
  func threeShowAllOnce(run: SeededRun) throws { try check(run, brokers: 3) }

  private func check(_ run: SeededRun, brokers: Int) throws {
    for seed in run.simulationSeeds(stepsEach: Self.steps) {
      let failures = try Self.play(seed: seed, brokers: brokers)
      #expect(
        failures.isEmpty, "BELFRY_SEED=\(seed) BELFRY_STEPS=1: \(failures.prefix(3).joined(separator: "; "))")
    }
  }

  private static func play(seed: UInt64, brokers: Int) throws -> [String] {
    try Simulation.play(seed: seed) { simulation in
      let server = SimulatedRedisServer(SimulatedRedis(), in: simulation)
      let address = SimulatedAddress("10.0.0.1", 6379)
      simulation.network.listen(server, at: address)
      let host = simulation.addHost("brokers")
      scheduleFaults(seed, simulation, server)
      let stage = BrokersStage(on: try host.makeLoop("0"), brokers: brokers, seed: seed)
      let notes = Notes()
      Task(executorPreference: stage.loop) { await stage.play(steps: steps, notes) }
      try simulation.run { notes.ends == 1 }
      return notes.lines
    }
  }

  /// Some faults in the seconds that the steps take.
  private static func scheduleFaults(_ seed: UInt64, _ simulation: Simulation, _ server: SimulatedRedisServer)
  {
    var chance = SeededGenerator(seed: seed)
    var runs = 0
    for _ in 0..<2 + chance.below(8) {
      let time = Duration.milliseconds(200 + chance.below(6_000))
      switch chance.below(3) {
      case 0: simulation.schedule(after: time) { simulation.network.cutAll() }
      case 1:
        runs += 1
        var options = SimulatedRedis.Options()
        options.runID = String(repeating: "\(runs)", count: 40)
        let next = options
        simulation.schedule(after: time) {
          server.crash(into: SimulatedRedis(next, replaying: server.redis.log.effects))
        }
      default:
        let slow = 20...(1_000 * (1 + chance.below(200)))
        simulation.schedule(after: time) { simulation.network.latency = slow }
        simulation.schedule(after: time + .seconds(1)) { simulation.network.latency = 20...2_000 }
      }
    }
  }
}
