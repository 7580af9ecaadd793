import BelfryServer
import Foundation

extension Command {
  static let move = Command(
    name: "move", summary: "take all that brokers keep to a cluster, or another Redis",
    detail: """
      Brokers answer 503 meanwhile: from the pause that is printed until they are started with the new address. \
      Every key is compared on both sides before the target is opened, and it ends with 0 only if all are equal; \
      if anything fails, the keyspace is given back. If it is interrupted, the same command goes on, or with \
      --cancel gives the keyspace back. Without --from it takes the Redis that belfry serve would use, a running \
      broker's own included. URLs with a password stand in BELFRY_REDIS and BELFRY_MOVE_TO.
      """,
    options: [
      .value("from", "URL", "the Redis that brokers use now: redis://, rediss:// or unix://"),
      .value("to", "URL", "a Redis that has nothing of Belfry's, or any node of such a cluster"),
      .value(
        "partitions", "N",
        "how many parts it is to have, a larger power of two than before; as many otherwise"),
      .flag("cancel", "give the keyspace back, while the move has not come to its end"),
      .value("config", "FILE", "the broker's configuration file"),
      .value("data", "DIR", "the broker's data folder; data otherwise"),
      .flag("json", "print one JSON value"),
    ],
    examples: [
      Example("move --from redis://redis:6379 --to redis://node-1:7001", "to the cluster of that node"),
      Example("move --data /var/lib/belfry --to redis://node-1:7001", "of a broker with a Redis of its own"),
      Example("move --from redis://redis:6379 --to redis://node-1:7001 --cancel", "after an interruption"),
    ],
    run: { invocation in
      let report = try await invocation.reportingMoves()
      try invocation.print(MoveFacts(report), MoveText.ended(report, in: invocation.console.timeZone))
    })
}

extension Invocation {
  fileprivate func reportingMoves() async throws -> MoveReport {
    var options = arguments.serveOptions
    options.redis = arguments.text("from")
    // Not that of a keyspace that is to be made.
    options.partitions = nil
    let partitions = try arguments.integer("partitions", in: 1...1_024)
    let isCancelled = arguments.isSet("cancel")
    let target = arguments.text("to") ?? variable("BELFRY_MOVE_TO")
    guard target != nil || isCancelled else {
      throw UsageError("--to is needed: a Redis that has nothing of Belfry's, or any node of such a cluster")
    }
    for (option, name) in [("from", "BELFRY_REDIS"), ("to", "BELFRY_MOVE_TO")] {
      guard let url = arguments.text(option), url.withoutCredentials != url else { continue }
      throw UsageError(
        "everybody on this machine can read the password on a command line: put --\(option) into \(name)")
    }
    let line = ProgressLine(on: console)
    defer { line.end() }
    do {
      let move = try Move(from: options, to: target, partitions: partitions, environment: environment) {
        let said = MoveText.said($0, in: console.timeZone)
        if !said.isEmpty { line.end() }
        for text in said { console.complain(text) }
        if let text = MoveText.of($0) { line.show(text) }
      }
      return isCancelled ? try await move.cancel() : try await move.run()
    } catch {
      throw CommandFailure(
        code: error.code, detail: "\(error.place): \(error.cause)", advice: error.advice)
    }
  }
}
