import Foundation

@main
struct Belfry {
  static func main() async {
    let runner = CommandRunner(
      table: .belfry, environment: ProcessInfo.processInfo.environment, console: Console(timeZone: .current))
    let code = await runner.run(Array(CommandLine.arguments.dropFirst()))
    exit(code.rawValue)
  }
}
