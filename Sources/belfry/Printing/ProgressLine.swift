import Foundation
import Synchronization

/// The progress of long work, in one line on standard error that is overwritten. It prints nothing if
/// standard error is not a terminal.
final class ProgressLine: Sendable {
  private struct State {
    var shownAt: ContinuousClock.Instant?
    var isThere = false
  }

  private let columns: Int?
  private let state = Mutex(State())

  /// Nobody could read faster changes.
  private static let interval: Duration = .milliseconds(100)

  init(on console: Console) {
    columns = console.terminal.progressColumns
  }

  /// - Parameter text: the work and its progress, as plain text.
  func show(_ text: String) {
    guard let columns else { return }
    state.withLock { state in
      let now = ContinuousClock.now
      if let shownAt = state.shownAt, now - shownAt < Self.interval { return }
      state = State(shownAt: now, isThere: true)
      // One column less: a line that fills the terminal wraps on some of them.
      Self.write(
        "\r" + VisibleText.fitted(VisibleText.of(text), columnsLimit: max(columns - 1, 1)) + Self.clearing)
    }
  }

  /// Removes the line, so that other output can follow.
  func end() {
    state.withLock { state in
      if state.isThere { Self.write("\r" + Self.clearing) }
      state.isThere = false
    }
  }

  /// Erase to the end of the line (ECMA-48, EL).
  private static let clearing = "\u{1b}[K"

  private static func write(_ text: String) {
    // A terminal that has gone is no reason to stop the work.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
