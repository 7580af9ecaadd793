import TestKit
import Testing

@testable import SimulatedRedis

/// The table of commands says the same of each command as Redis does.
@Suite struct CommandTableTests {
  /// A real one has these traits at their subcommands.
  private static let containers: Set<String> = ["FUNCTION", "SCRIPT", "CLUSTER", "CLIENT", "PUBSUB", "XINFO"]

  private static let names: [(CommandSpec.Traits, String)] = [
    (.writes, "write"), (.needsMemory, "denyoom"), (.notInScripts, "noscript"), (.whileLoading, "loading"),
    (.whileStale, "stale"), (.withoutLogin, "no_auth"),
  ]

  @Test func commandsHaveTheTraitsOfRedis() async throws {
    var options = RedisServer.Options()
    options.listensOnTCP = true
    try await withRedisServer(options) { server in
      let real = try RealRedis(server)
      for spec in CommandTable.all {
        let reply = try real.ask(["COMMAND", "INFO", spec.name].map { Bytes($0.utf8) })
        guard case .array(let found) = reply, case .array(let facts)? = found.first, facts.count > 2 else {
          Issue.record("no such command: \(spec.name)")
          continue
        }
        #expect(facts[1] == .integer(Int64(spec.arity)), "\(spec.name)")
        guard !Self.containers.contains(spec.name), case .array(let flags) = facts[2] else { continue }
        for (trait, name) in Self.names {
          let isThere = flags.contains(.status(Bytes(name.utf8)))
          #expect(spec.traits.contains(trait) == isThere, "\(spec.name): \(name)")
        }
      }
    }
  }
}
