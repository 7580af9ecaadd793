import BelfryBytes
import Foundation

/// The place that a command prints to. Each call is one write, so a reader on a pipe sees every line at once
/// and whole.
struct Console: Sendable {
  /// The time zone in which times are shown.
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

  /// Clears a terminal, so that the next output replaces the same output from before. Elsewhere it does
  /// nothing.
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
      // The reader has gone, and there is nobody left to tell.
      exit(ExitCode.refused.rawValue)
    }
  }
}

// MARK: - Asking

extension Console {
  /// Asks if the command should continue, and returns if the answer is yes. If nobody can be asked, it
  /// refuses.
  ///
  /// - Parameter question: the whole question, such as `Remove server 12 for good?`.
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
  /// True if ``confirm(_:)`` asks somebody.
  var willAsk: Bool { !arguments.isSet("yes") && console.terminal.canAsk }

  /// Asks before a change that cannot be undone, unless `--yes` was given. The command must have the option
  /// ``CommandOption/yes``.
  func confirm(_ question: String) throws {
    if !arguments.isSet("yes") { try console.confirm(question) }
  }
}
