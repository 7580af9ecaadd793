import BelfryClient

/// How the process ends.
enum ExitCode: Int32, Sendable, CaseIterable {
  case success = 0
  /// Refused by the broker, or no broker reached.
  case refused = 1
  case wrongUsage = 2
}

/// Runs a command: from the typed words to an exit code.
struct CommandRunner: Sendable {
  let table: CommandTable
  let environment: [String: String]
  let console: Console

  func run(_ words: [String]) async -> ExitCode {
    // The command whose help is suggested: the command itself, or its group or the whole program until the
    // command is found.
    var name = "belfry"
    var found: Command?
    var given: Arguments?
    var isUser = false
    if let first = words.first, table.groups[first] != nil { name += " \(first)" }
    do {
      switch try table.find(words) {
      case .help(let lines):
        console.print(lines)
      case .command(let command, let rest):
        name = "belfry \(command.name)"
        found = command
        let arguments = try ArgumentParser.parse(rest, for: command)
        given = arguments
        let invocation = Invocation(arguments: arguments, environment: environment, console: console)
        isUser = invocation.isUser
        try await command.run(invocation)
      }
      return .success
    } catch let error as UsageError {
      console.complain("\(name): \(error.message)")
      if let suggestion = error.suggestion { console.complain("  perhaps: \(suggestion)") }
      console.complain("  \(name) --help shows more")
      return .wrongUsage
    } catch let error as BelfryError {
      complain(of: CommandFailure(error, of: found, given, byUser: isUser))
      return .refused
    } catch let error as CommandFailure {
      complain(of: error)
      return error.exitCode
    } catch {
      complain(of: CommandFailure(code: "failed", detail: "\(error)"))
      return .refused
    }
  }

  private func complain(of failure: CommandFailure) {
    console.complain("belfry: \(failure.code): \(failure.detail)")
    if let advice = failure.advice { console.complain("  \(advice)") }
  }
}
