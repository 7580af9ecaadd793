import BelfryServer

extension Command {
  static let serve = Command(
    name: "serve", summary: "run a broker",
    detail: """
      Runs until SIGTERM or SIGINT: then connected consumers are sent elsewhere, requests in flight finish, and \
      it exits 0. A second signal ends it at once. Every setting can also stand in the file or in the \
      environment (BELFRY_LISTEN and so on); options go before the environment, and that before the file.
      """,
    options: CommandOption.broker + [
      .flag("adopt-settings", "write in the keyspace that its brokers have this one's limits and secret")
    ],
    examples: [
      Example("serve --data /var/lib/belfry", "on port 8080 of this machine, with a Redis of its own"),
      Example("serve --listen 0.0.0.0:8080 --redis redis://redis:6379", "for others, on a Redis there is"),
    ],
    run: { invocation in
      do {
        try await Serve.run(invocation.arguments.serveOptions, environment: invocation.environment)
      } catch let error as StartError {
        throw CommandFailure(error)
      }
    })
}

extension CommandOption {
  /// What a broker is configured by, beside the file and the environment.
  static let broker: [CommandOption] = [
    .value("config", "FILE", "the configuration file: JSON, with // comments"),
    .value("listen", "HOST:PORT", "where clients connect; 127.0.0.1:8080 otherwise"),
    .value("data", "DIR", "the broker's own folder: its secret, and its Redis's data; data otherwise"),
    .value(
      "redis", "URL",
      "redis://, rediss:// or unix://, or redis+sentinel:// (docs/sentinel.md); without it an embedded redis-server "
        + "under DIR is run"),
    .value("loops", "N", "event loops, each a thread; one for each processor otherwise"),
    .value(
      "partitions", "N",
      "how many parts a new keyspace has, a power of two to 1024; 64 otherwise. Never changes afterwards"),
  ]
}

extension Arguments {
  /// Of a command that takes all or some of them.
  var serveOptions: ServeOptions {
    var options = ServeOptions()
    options.config = text("config")
    options.listen = text("listen")
    options.data = text("data")
    options.redis = text("redis")
    options.loops = text("loops")
    options.partitions = text("partitions")
    options.adoptsSettings = isSet("adopt-settings")
    return options
  }
}

extension CommandFailure {
  init(_ error: StartError) {
    // A setting can be wrong in the file and the environment, too; only as an option it is wrong usage.
    let isOption = error.code == .invalidValue && error.place.hasPrefix("--")
    self.init(
      code: error.code.rawValue, detail: "\(error.place): \(error.cause)",
      exitCode: isOption ? .wrongUsage : .refused)
  }
}
