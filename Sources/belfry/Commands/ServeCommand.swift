import BelfryServer

extension Command {
  static let serve = Command(
    name: "serve", summary: "run a broker",
    detail: """
      Runs until SIGTERM or SIGINT. Then it tells connected clients to connect to other brokers, finishes \
      the requests in flight, and exits with 0. A second signal ends it at once. Every setting can also be \
      given in the configuration file or in the environment (BELFRY_LISTEN and so on); options override \
      the environment, which overrides the file.
      """,
    options: CommandOption.broker + [
      .flag("adopt-settings", "replace the keyspace's limits and secret with those of this broker")
    ],
    strayAdvice: "belfry serve takes only options, such as --listen 127.0.0.1:8081",
    examples: [
      Example("serve --data /var/lib/belfry", "on port 8080 of this machine, with an embedded Redis"),
      Example(
        "serve --listen 0.0.0.0:8080 --redis redis://redis:6379", "for other machines, on a separate Redis"),
    ],
    run: { invocation in
      let (options, environment) = (invocation.arguments.serveOptions, invocation.environment)
      do {
        try await Serve.run(options, environment: environment)
      } catch let error as StartError {
        var failure = CommandFailure(error)
        let count = ConfigurationReport(options, environment: environment).mistakes.count
        if count > 1 {
          failure.advice = "the configuration has \(count) mistakes; belfry check-config names all of them"
        }
        throw failure
      }
    })
}

extension CommandOption {
  /// The options of a broker, in addition to the file and the environment.
  static let broker: [CommandOption] = [
    .value("config", "FILE", "the configuration file: JSON, with // comments"),
    .value("listen", "HOST:PORT", "the address for clients; 127.0.0.1:8080 by default")
      .withNamesElsewhere("port", "host", "bind", "address"),
    .value(
      "data", "DIR", "the broker's folder for its secret and its Redis's data; by default BELFRY_DATA or data"
    ),
    .value(
      "redis", "URL",
      "redis://, rediss:// or unix://, or redis+sentinel:// (docs/sentinel.md); by default an embedded redis-server "
        + "under DIR"),
    .value("loops", "N", "event loops, each a thread; one per processor by default"),
    .value(
      "partitions", "N",
      "the number of partitions of a new keyspace, a power of two up to 1024; 64 by default. Later only belfry move can raise it"
    ),
  ]
}

extension Arguments {
  /// The options of a command that takes all or some of them.
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
    // A setting can be wrong in the file and the environment too. It is wrong usage only as an option.
    let isOption = error.code == .invalidValue && error.place.hasPrefix("--")
    self.init(
      code: error.code.rawValue, detail: "\(error.place): \(error.cause)",
      advice: error.code == .cannotListen ? Self.adviceToListen(error) : nil,
      exitCode: isOption ? .wrongUsage : .refused)
  }

  private static func adviceToListen(_ error: StartError) -> String {
    error.cause.contains("in use")
      ? "perhaps another program listens there; --listen HOST:PORT or BELFRY_LISTEN names another port"
      : "--listen HOST:PORT or BELFRY_LISTEN must name an address of this machine"
  }
}
