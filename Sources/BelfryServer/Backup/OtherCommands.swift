import BelfryRedis
import BelfrySystem

/// Finds other commands of one kind that work on the same Redis, by the names of their connections.
struct OtherCommands {
  static let moves = OtherCommands(
    name: "belfry move", code: .moveUnderWay, connectionName: "belfry-move")
  static let restores = OtherCommands(
    name: "belfry restore", code: .restoreUnderWay, connectionName: "belfry-restore")

  private let name: String
  private let code: BackupError.Code
  /// The name that Redis shows for the connections of such a command.
  let connectionName: String

  /// Refuses while another command works on one of the nodes. A command that has sent nothing to any of them for a while
  /// counts as dead, and its connections are closed so that it cannot continue. A command that is silent at one node may be
  /// working at another.
  func refuseOthers(at nodes: [RedisSession]) async throws(BackupError) {
    var silent: [(node: RedisSession, other: Other)] = []
    for node in nodes { silent += try await silentOthers(at: node).map { (node, $0) } }
    for (node, other) in silent { _ = try await node.ask(RedisCommand("CLIENT", "KILL", "ID", other.id)) }
  }

  /// - Throws: if one is not silent.
  private func silentOthers(at node: RedisSession) async throws(BackupError) -> [Other] {
    // Redis may still be working for a command that was killed a moment ago.
    let deadline = ContinuousClock.now + Self.endingMax
    while true {
      let found = try await others(at: node)
      guard let active = found.first(where: { $0.idleSeconds <= Self.silenceMaxSeconds }) else {
        return found
      }
      guard .now < deadline else {
        throw BackupError(
          code, "another \(name) is working on it, from \(active.address)",
          at: node.endpoint.description,
          advice: "wait until that command ends, or stop it")
      }
      _ = Poll.readable([], until: .now + .milliseconds(50))
    }
  }

  private static let endingMax: Duration = .seconds(2)
  private static let silenceMaxSeconds = 60

  private struct Other {
    let id: String
    let address: String
    let idleSeconds: Int
  }

  private func others(at node: RedisSession) async throws(BackupError) -> [Other] {
    let (own, list) = (
      try await node.ask(RedisCommand("CLIENT", "ID")),
      try await node.ask(RedisCommand("CLIENT", "LIST", "TYPE", "normal"))
    )
    do throws(RedisError) {
      let ownID = "\(try own.integer())"
      return try list.string().split(whereSeparator: \.isNewline).compactMap { line in
        var facts: [Substring: Substring] = [:]
        for word in line.split(separator: " ") {
          let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
          if parts.count == 2 { facts[parts[0]] = parts[1] }
        }
        guard facts["name"]?.elementsEqual(connectionName) == true, let id = facts["id"], id != ownID
        else { return nil }
        return Other(
          id: String(id), address: String(facts["addr"] ?? ""),
          idleSeconds: facts["idle"].flatMap { Int($0) } ?? 0)
      }
    } catch {
      throw BackupError(error)
    }
  }
}
