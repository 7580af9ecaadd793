import BelfryServer
import Foundation

extension Command {
  static let move = Command(
    name: "move", summary: "move all data of brokers to a cluster, or to another Redis",
    detail: """
      Pauses the brokers, and prints when the pause began. From then on they answer 503, until they are started with the \
      new address. Every key is compared on both sides before brokers may use the target, and the command ends \
      with 0 only if all are equal. If anything fails, the brokers continue with the Redis that they had. After \
      an interruption the same command continues the move, or with --cancel undoes it. Without --from it \
      moves the data of the Redis that belfry serve would use, including the embedded one of a running \
      broker. Put URLs with a password into BELFRY_REDIS and BELFRY_MOVE_TO.
      """,
    options: [
      .value("from", "URL", "the Redis that brokers use now: redis://, rediss:// or unix://"),
      .value("to", "URL", "a Redis without Belfry data, or any node of a cluster without Belfry data"),
      .value(
        "partitions", "N",
        "the new number of partitions, a larger power of two; unchanged by default"),
      .flag("cancel", "cancel an unfinished move, and give the keyspace back to the old Redis"),
      .value("config", "FILE", "the broker's configuration file"),
      .value("data", "DIR", "the broker's data folder; by default BELFRY_DATA or data"),
      .flag("json", "print one JSON value"),
    ],
    changesSomething: true,
    examples: [
      Example("move --from redis://redis:6379 --to redis://node-1:7001", "to the cluster of that node"),
      Example("move --data /var/lib/belfry --to redis://node-1:7001", "for a broker with an embedded Redis"),
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
    // The configured number of partitions is that of a keyspace still to be made, so it does not count here.
    options.partitions = nil
    let partitions = try arguments.integer("partitions", in: 1...1_024)
    let isCancelled = arguments.isSet("cancel")
    let target = arguments.text("to") ?? variable("BELFRY_MOVE_TO")
    guard target != nil || isCancelled else {
      throw UsageError(
        "--to is needed: a Redis without Belfry data, or any node of a cluster without Belfry data")
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
