import BelfryLoop
import BelfryRedis
import SimulationKit
import TestKit
import Testing

/// The broker's own connections to Redis, hiredis included, over the simulated network.
@Suite struct NetworkTests {
  @Test func commandsAreAnsweredOverTheNetwork() throws {
    let (lines, server) = try Self.play { simulation, server in
      simulation.network.listen(server, at: Self.redis)
    }
    #expect(lines == Array(repeating: "PONG", count: Caller.pings))
    // A PING of the set-up comes first.
    #expect(server == PongCounts(opened: 1, closed: 1, commands: Caller.pings + 1))
  }

  @Test func aRefusedConnectionIsMadeOnceSomebodyListens() throws {
    let (lines, server) = try Self.play { simulation, server in
      simulation.schedule(after: .seconds(5)) { simulation.network.listen(server, at: Self.redis) }
    }
    #expect(lines.first == "unavailable")
    #expect(lines.last == "PONG")
    #expect(server.opened == 1)
  }

  @Test func aConnectionThatIsCutIsMadeAgain() throws {
    let (lines, server) = try Self.play { simulation, server in
      simulation.network.listen(server, at: Self.redis)
      simulation.schedule(after: .seconds(5)) { simulation.network.cutAll() }
    }
    #expect(lines.last == "PONG")
    #expect(server.opened == 2)
    #expect(server.closed == 2)
  }

  @Test func oneSeedHasOneHistoryOfMessages() throws {
    for seed in TestEnvironment.seed..<TestEnvironment.seed + 10 {
      let (first, again) = (try Self.trace(seed: seed), try Self.trace(seed: seed))
      #expect(first == again, "seed \(seed)")
    }
    let (one, other) = (try Self.trace(seed: 1), try Self.trace(seed: 2))
    #expect(one != other)
  }

  private static let redis = SimulatedAddress("10.0.0.1", 6379)

  private static func trace(seed: UInt64) throws -> Trace {
    try Simulation.play(seed: seed) { simulation in
      let server = PongServer()
      simulation.network.listen(server, at: redis)
      simulation.schedule(after: .seconds(5)) { simulation.network.cutAll() }
      _ = try Caller.play(in: simulation)
      return simulation.trace
    }
  }

  /// - Returns: what the caller was answered, and what the server saw.
  private static func play(
    _ prepare: @escaping @Sendable (Simulation, PongServer) -> Void
  ) throws -> ([String], PongCounts) {
    try Simulation.play(seed: TestEnvironment.seed) { simulation in
      let server = PongServer()
      prepare(simulation, server)
      let lines = try Caller.play(in: simulation)
      return (lines, server.counts)
    }
  }
}

struct PongCounts: Hashable, Sendable {
  var opened = 0
  var closed = 0
  var commands = 0
}

/// Answers each command with PONG.
private final class PongServer: SimulatedServer {
  private(set) var counts = PongCounts()

  func open(_ connection: SimulatedConnection) { counts.opened += 1 }

  func receive(_ bytes: [UInt8], on connection: SimulatedConnection) {
    // Each command begins with the count of its arguments.
    let commands = bytes.count { $0 == UInt8(ascii: "*") }
    counts.commands += commands
    connection.send(Array(String(repeating: "+PONG\r\n", count: commands).utf8))
  }

  func close(_ connection: SimulatedConnection) { counts.closed += 1 }
}

/// Has a connection to Redis, and sends a PING ten times a second.
private actor Caller {
  static let pings = 100

  private nonisolated let loop: EventLoop
  private let connection: RedisConnection

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop) {
    self.loop = loop
    connection = RedisConnection(loop: loop, endpoint: .tcp("10.0.0.1"))
  }

  static func play(in simulation: Simulation) throws -> [String] {
    let caller = Caller(on: try simulation.addHost("broker").makeLoop("0"))
    let notes = Notes()
    Task(executorPreference: caller.loop) { await caller.run(notes) }
    try simulation.run { notes.ends == 1 }
    // The server learns of the end.
    try simulation.run(for: .seconds(1))
    return notes.lines
  }

  private func run(_ notes: Notes) async {
    connection.start()
    for _ in 0..<Self.pings {
      notes.add(await ping())
      try? await loop.sleep(for: .milliseconds(100))
    }
    connection.close()
    notes.end()
  }

  private func ping() async -> String {
    do throws(RedisError) {
      return try await connection.send(RedisCommand("PING")).string()
    } catch {
      return error.code.rawValue
    }
  }
}
