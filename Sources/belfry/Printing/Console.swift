import BelfryBytes
import Foundation

/// Where a command prints. Each call is one write, so that a reader on a pipe sees every line at once, and
/// whole.
struct Console: Sendable {
  /// In which times are shown.
  let timeZone: TimeZone

  func print(_ lines: [String]) {
    write(lines, to: .standardOutput)
  }

  func complain(_ line: String) {
    write([VisibleText.of(line.withoutCredentials)], to: .standardError)
  }

  private func write(_ lines: [String], to file: FileHandle) {
    guard !lines.isEmpty else { return }
    do {
      try file.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
    } catch {
      // Whoever read this has gone, and there is nobody left to tell.
      exit(ExitCode.refused.rawValue)
    }
  }
}
