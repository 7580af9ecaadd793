import BelfryServer
import Foundation

@main
struct Belfry {
  /// Not `async`: the main thread of such a program ends up in libdispatch, which opens it to every signal
  /// there, and SIGTERM would end a broker before it is told.
  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    if words.first == Command.serve.name { Serve.holdBackSignals() }
    let runner = CommandRunner(
      table: .belfry, environment: ProcessInfo.processInfo.environment, console: Console(timeZone: .current))
    Task.detached { exit(await runner.run(words).rawValue) }
    while true { pause() }
  }
}
