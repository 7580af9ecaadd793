import BelfryRedis
import BelfrySystem

/// Finds other commands that move the same keyspace, by the names of their connections.
enum MoveOthers {
  /// Refuses while another command works on either side. A command that has sent nothing for a while counts
  /// as dead, and its connections are closed so that it cannot continue.
  static func refuse(at sides: [MoveSide]) async throws(BackupError) {
    for (side, node) in sides.flatMap({ side in side.nodes.map { (side, $0) } }) {
      // Redis may still be working for a command that was killed a moment ago.
      let deadline = ContinuousClock.now + endingMax
      var found = try await others(at: node)
      while found.contains(where: { $0.idleSeconds <= silenceMaxSeconds }) {
        guard .now < deadline else {
          throw BackupError(
            .moveUnderWay, "another belfry move is working on it, from \(found[0].address)", at: side.place,
            advice: "wait until that command ends, or stop it")
        }
        _ = Poll.readable([], until: .now + .milliseconds(50))
        found = try await others(at: node)
      }
      for other in found { _ = try await node.ask(RedisCommand("CLIENT", "KILL", "ID", other.id)) }
    }
  }

  private static let endingMax: Duration = .seconds(2)
  private static let silenceMaxSeconds = 60

  private struct Other {
    let id: String
    let address: String
    let idleSeconds: Int
  }

  private static func others(at node: RedisSession) async throws(BackupError) -> [Other] {
    let (own, list) = (
      try await node.ask(RedisCommand("CLIENT", "ID")),
      try await node.ask(RedisCommand("CLIENT", "LIST", "TYPE", "normal"))
    )
    return try MoveSide.reading { () throws(RedisError) in
      let ownID = "\(try own.integer())"
      return try list.string().split(whereSeparator: \.isNewline).compactMap { line in
        var facts: [Substring: Substring] = [:]
        for word in line.split(separator: " ") {
          let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
          if parts.count == 2 { facts[parts[0]] = parts[1] }
        }
        guard facts["name"]?.elementsEqual(MoveSide.connectionName) == true, let id = facts["id"], id != ownID
        else { return nil }
        return Other(
          id: String(id), address: String(facts["addr"] ?? ""),
          idleSeconds: facts["idle"].flatMap { Int($0) } ?? 0)
      }
    }
  }
}
