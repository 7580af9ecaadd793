import Foundation
import Synchronization

/// How far something long is, in one line on standard error that is written over; nothing where that is no terminal.
final class ProgressLine: Sendable {
  private struct State {
    var shownAt: ContinuousClock.Instant?
    var isThere = false
  }

  private let columns: Int?
  private let state = Mutex(State())

  /// What comes faster is not read by anybody.
  private static let interval: Duration = .milliseconds(100)

  init(on console: Console) {
    columns = console.terminal.progressColumns
  }

  /// - Parameter text: what is being done, and how much of it is; plain.
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

  /// Takes the line away, for what is printed next.
  func end() {
    state.withLock { state in
      if state.isThere { Self.write("\r" + Self.clearing) }
      state.isThere = false
    }
  }

  /// Erase to the end of the line (ECMA-48, EL).
  private static let clearing = "\u{1b}[K"

  private static func write(_ text: String) {
    // A terminal that has gone is no reason to give up what is being done.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
