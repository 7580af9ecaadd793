package import BelfryModel
package import TestKit

@testable import BelfryStore

extension RedisServer {
  /// As if this Redis had allotted the id: the next one of the partition comes after it.
  package func setLastID(_ id: MessageID) throws {
    try command(
      "HSET", RedisLayout(.standard).partitionHash(id.partition), "last", id.streamForm, "history", history())
  }

  /// The name of the history in which this Redis gives ids.
  package func history() throws -> String {
    let line = try command("INFO", "server").split(whereSeparator: \.isNewline).first {
      $0.hasPrefix("run_id:")
    }
    guard let line else { throw FixtureError("Redis names no run_id") }
    return String(line.dropFirst("run_id:".count).prefix(8))
  }
}
