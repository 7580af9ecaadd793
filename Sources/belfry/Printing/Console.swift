import BelfryBytes
import Foundation

/// Where a command prints. Each call is one write, so that a reader on a pipe sees every line at once, and
/// whole.
struct Console: Sendable {
  /// In which times are shown.
  let timeZone: TimeZone
  let terminal: Terminal

  init(timeZone: TimeZone, terminal: Terminal = Terminal()) {
    self.timeZone = timeZone
    self.terminal = terminal
  }

  func print(_ lines: [String]) {
    guard !lines.isEmpty else { return }
    write(lines.joined(separator: "\n") + "\n", to: .standardOutput)
  }

  /// Clears a terminal, so that what is printed next stands where the same was printed before. Elsewhere it does nothing.
  func clearScreen() {
    if terminal.columns != nil { write("\u{1B}[H\u{1B}[J", to: .standardOutput) }
  }

  func complain(_ line: String) {
    write(VisibleText.of(line.withoutCredentials) + "\n", to: .standardError)
  }

  private func write(_ text: String, to file: FileHandle) {
    do {
      try file.write(contentsOf: Data(text.utf8))
    } catch {
      // Whoever read this has gone, and there is nobody left to tell.
      exit(ExitCode.refused.rawValue)
    }
  }
}

// MARK: - Asking

extension Console {
  /// Asks whether to go on, and returns if the answer is yes. Where nobody can be asked, nothing is assumed.
  ///
  /// - Parameter question: whole, as `Remove server 12 for good?`.
  func confirm(_ question: String) throws {
    guard terminal.canAsk else {
      throw UsageError(
        "this needs a confirmation, and there is no terminal: \(VisibleText.of(question))",
        suggestion: "--yes, to do it without asking")
    }
    write(VisibleText.of(question) + " [y/N] ", to: .standardError)
    let answer = readLine()
    // The end of the input leaves the cursor behind the question.
    if answer == nil { write("\n", to: .standardError) }
    guard let answer, ["y", "yes"].contains(answer.lowercased()) else {
      throw CommandFailure(code: "notConfirmed", detail: "nothing was changed")
    }
  }
}

extension CommandOption {
  static let yes = flag("yes", "do it without asking")
}

extension Invocation {
  /// Asks before something is done for good, unless `--yes` was given. The command has ``CommandOption/yes`` among its
  /// options.
  func confirm(_ question: String) throws {
    if !arguments.isSet("yes") { try console.confirm(question) }
  }
}
