import BelfryLoop
import Foundation

@main
struct Belfry {
  /// This is not `async`. The main thread of an `async` program runs in libdispatch, which opens it to every
  /// signal, and a signal that one thread lets through ends the process. A broker waits for its signals
  /// instead.
  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    if words.first == Command.serve.name { ProcessSignal.block() } else { ProcessSignal.unblock() }
    let environment = ProcessInfo.processInfo.environment
    let console = Console(timeZone: .current, terminal: Terminal(environment: environment))
    if let name = TimeZone.unknownName(in: environment) {
      console.complain(
        "belfry: the time zone in TZ is not known here: \(name). Times are shown in \(TimeZone.current.identifier)"
      )
    }
    let runner = CommandRunner(table: .belfry, environment: environment, console: console)
    Task.detached { exit(await runner.run(words).rawValue) }
    while true { pause() }
  }
}
