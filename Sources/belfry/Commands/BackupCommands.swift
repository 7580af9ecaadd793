import BelfryServer
import Foundation

extension Command {
  static let backup = Command(
    name: "backup", summary: "copy all that a broker keeps into a file",
    detail: """
      Takes the Redis that belfry serve would use with the same options, while brokers go on working: a running \
      broker's own Redis, that of a folder on which none runs, or one named by --redis. The file holds everything \
      as it was at one moment, is readable by its owner only, and is read again before it gets its name. The \
      secret is not in it: keep a copy of that elsewhere, again after each rotation.
      """,
    operands: [Operand(name: "FILE", meaning: "where to write it; nothing that is there is overwritten")],
    options: CommandOption.keyspace,
    examples: [
      Example("backup --data /var/lib/belfry belfry.backup", "of a broker with a Redis of its own"),
      Example("backup --redis redis://redis:6379 belfry.backup", "of brokers on a Redis there is"),
    ],
    run: { invocation in
      let report = try await invocation.reportingBackups { options, file, progress in
        try Backup(to: file, of: options, environment: invocation.environment, progress: progress).run()
      }
      try invocation.print(BackupFacts(report), BackupText.made(report, in: invocation.console.timeZone))
    })

  static let restore = Command(
    name: "restore", summary: "make a keyspace of a file that belfry backup wrote",
    detail: """
      Into a data folder that is new or holds only secrets, or into a Redis that holds nothing of Belfry's, with no \
      broker on it. What was restored is counted before any broker can see it; if anything fails, nothing is left \
      of it. What was sent after the backup is gone.
      """,
    operands: [Operand(name: "FILE", meaning: "the backup")],
    options: CommandOption.keyspace,
    examples: [
      Example("restore --data /var/lib/belfry belfry.backup", "then belfry serve --data /var/lib/belfry"),
      Example("restore --redis redis://redis:6379 belfry.backup", "for brokers on a Redis there is"),
    ],
    run: { invocation in
      let report = try await invocation.reportingBackups { options, file, progress in
        try await Restore(
          from: file, into: options, environment: invocation.environment, progress: progress
        ).run()
      }
      try invocation.print(BackupFacts(report), BackupText.restored(report, in: invocation.console.timeZone))
    })
}

extension CommandOption {
  /// Which Redis is meant, said as to `belfry serve`.
  fileprivate static let keyspace: [CommandOption] = [
    .value("config", "FILE", "the broker's configuration file"),
    .value("data", "DIR", "the broker's data folder; data otherwise"),
    .value("redis", "URL", "redis://, rediss:// or unix://; without it the Redis in DIR is meant"),
    .flag("json", "print one JSON value"),
  ]
}

extension Invocation {
  fileprivate func reportingBackups(
    _ run: (ServeOptions, String, @escaping @Sendable (BackupProgress) -> Void) async throws -> BackupReport
  ) async throws -> BackupReport {
    let line = ProgressLine(on: console)
    defer { line.end() }
    do {
      return try await run(arguments.serveOptions, arguments.operands.first ?? "") {
        line.show(BackupText.of($0))
      }
    } catch let error as BackupError {
      throw CommandFailure(
        code: error.code, detail: "\(error.place): \(error.cause)", advice: error.advice)
    }
  }
}
