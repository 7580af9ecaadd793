import BelfryServer
import Foundation

extension Command {
  static let backup = Command(
    name: "backup", summary: "back up all data of a broker into a file",
    detail: """
      Backs up the Redis that belfry serve would use with the same options: the embedded Redis of a data \
      folder, or the Redis that --redis names. Brokers may run meanwhile. FILE holds everything as it was at one \
      moment, only its owner can read it, and it appears only after it was checked. It holds neither the secret nor \
      the key for Web Push (push-key.pem). Keep copies of them elsewhere, and copy the secret again after each rotation.
      """,
    operands: [Operand(name: "FILE", meaning: "the file to write; existing files are not overwritten")],
    options: CommandOption.keyspace,
    examples: [
      Example("backup --data /var/lib/belfry belfry.backup", "for a broker with an embedded Redis"),
      Example("backup --redis redis://redis:6379 belfry.backup", "for brokers on a separate Redis"),
    ],
    run: { invocation in
      let report = try await invocation.reportingBackups { options, file, progress in
        try await Backup(to: file, of: options, environment: invocation.environment, progress: progress).run()
      }
      try invocation.print(BackupFacts(report), BackupText.made(report, in: invocation.console.timeZone))
    })

  static let restore = Command(
    name: "restore", summary: "restore a keyspace from a file that belfry backup wrote",
    detail: """
      Restores into a data folder that is new or holds only secrets and push-key.pem, or into a Redis without Belfry \
      data. No broker may be running on that folder or Redis. The restored data is counted before a broker \
      can see it; if anything fails, nothing is left behind. Notifications that were sent after the backup \
      are lost.
      """,
    operands: [Operand(name: "FILE", meaning: "the backup")],
    options: CommandOption.keyspace,
    changesSomething: true,
    examples: [
      Example("restore --data /var/lib/belfry belfry.backup", "then belfry serve --data /var/lib/belfry"),
      Example("restore --redis redis://redis:6379 belfry.backup", "for brokers on a separate Redis"),
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
  /// Options that name the Redis, the same as those of `belfry serve`.
  fileprivate static let keyspace: [CommandOption] = [
    .value("config", "FILE", "the broker's configuration file"),
    .value("data", "DIR", "the broker's data folder; by default BELFRY_DATA or data"),
    .value("redis", "URL", "redis://, rediss:// or unix://; by default the Redis in DIR"),
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
