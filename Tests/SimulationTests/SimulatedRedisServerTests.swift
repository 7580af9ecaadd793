import BelfryLoop
import BelfryRedis
import SimulatedRedis
import SimulationKit
import TestKit
import Testing

/// The broker's own connections to a Redis that is simulated, too.
@Suite struct SimulatedRedisServerTests {
  @Test func aConnectionWritesAndReads() throws {
    let lines = try Self.play { _, _ in }
    #expect(lines == (1...Counter.rounds).map(String.init))
  }

  /// Each count before the crash was answered, and is found after it.
  @Test func aCrashLosesNothingThatTheFileHas() throws {
    let lines = try Self.play { simulation, server in
      simulation.schedule(after: .seconds(3)) {
        server.crash(into: SimulatedRedis(replaying: server.redis.log.effects))
      }
    }
    #expect(lines.last.flatMap { Int($0) } ?? 0 >= Counter.rounds - 2)
    #expect(
      lines.contains("connectionLost") || lines.contains("unavailable") || lines.count == Counter.rounds)
  }

  @Test func aCrashMayLoseTheTail() throws {
    let lines = try Self.play { simulation, server in
      simulation.schedule(after: .seconds(3)) {
        server.crash(into: SimulatedRedis(replaying: server.redis.log.effects.dropLast(10)))
      }
    }
    let counts = lines.compactMap { Int($0) }
    #expect(zip(counts, counts.dropFirst()).contains { $0 >= $1 })
  }

  @Test func waitIsAnsweredWhenAReplicaConfirms() throws {
    let confirmed = try Simulation.play(seed: TestEnvironment.seed) { simulation in
      let server = SimulatedRedisServer(SimulatedRedis(), in: simulation)
      simulation.network.listen(server, at: Self.address)
      simulation.schedule(after: .seconds(1)) {
        server.redis.confirmedOffsets[1] = server.redis.log.offset
        server.answerWaits()
      }
      let counter = Counter(on: try simulation.addHost("broker").makeLoop("0"))
      let notes = Notes()
      Task(executorPreference: counter.loop) { await counter.wait(notes) }
      try simulation.run { notes.ends == 1 }
      return (notes.lines, simulation.elapsed)
    }
    #expect(confirmed.0 == ["1"])
    #expect(confirmed.1 >= .seconds(1))
  }

  @Test func oneSeedHasOneHistory() throws {
    func trace(_ seed: UInt64) throws -> Trace {
      try Simulation.play(seed: seed) { simulation in
        let server = SimulatedRedisServer(SimulatedRedis(), in: simulation)
        simulation.network.listen(server, at: Self.address)
        _ = try Counter.play(in: simulation)
        return simulation.trace
      }
    }
    let (first, again) = (try trace(TestEnvironment.seed), try trace(TestEnvironment.seed))
    #expect(first == again)
  }

  private static let address = SimulatedAddress("10.0.0.1", 6379)

  private static func play(
    _ prepare: @escaping @Sendable (Simulation, SimulatedRedisServer) -> Void
  ) throws -> [String] {
    try Simulation.play(seed: TestEnvironment.seed) { simulation in
      let server = SimulatedRedisServer(SimulatedRedis(), in: simulation)
      simulation.network.listen(server, at: address)
      prepare(simulation, server)
      return try Counter.play(in: simulation)
    }
  }
}

/// Counts in Redis ten times a second.
private actor Counter {
  static let rounds = 60

  nonisolated let loop: EventLoop
  private let connection: RedisConnection

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop) {
    self.loop = loop
    connection = RedisConnection(loop: loop, endpoint: .tcp("10.0.0.1"))
  }

  static func play(in simulation: Simulation) throws -> [String] {
    let counter = Counter(on: try simulation.addHost("broker").makeLoop("0"))
    let notes = Notes()
    Task(executorPreference: counter.loop) { await counter.run(notes) }
    try simulation.run { notes.ends == 1 }
    return notes.lines
  }

  private func run(_ notes: Notes) async {
    connection.start()
    for _ in 0..<Self.rounds {
      notes.add(await text(of: RedisCommand("HINCRBY", "counts", "rounds", 1)))
      try? await loop.sleep(for: .milliseconds(100))
    }
    connection.close()
    notes.end()
  }

  func wait(_ notes: Notes) async {
    connection.start()
    _ = await text(of: RedisCommand("SET", "key", "text"))
    notes.add(await text(of: RedisCommand("WAIT", 1, 5_000)))
    connection.close()
    notes.end()
  }

  private func text(of command: RedisCommand) async -> String {
    do throws(RedisError) {
      return String(try await connection.send(command).integer())
    } catch {
      return error.code.rawValue
    }
  }
}
