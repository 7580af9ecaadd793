/// An action that runs in every iteration, after the jobs and before the loop waits.
package final class LoopHook {
  /// The order of hooks: a later phase handles in the same iteration what an earlier one produced.
  package enum Phase: Int, Comparable, Sendable {
    /// Consumers are notified of the entries that arrived, and written to.
    case notify
    /// Requests whose answers are ready are answered.
    case serve
    /// The decisions of this iteration become calls to Redis, as few as possible.
    case commit
    /// Bytes go to sockets.
    case flush

    package static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
  }

  let phase: Phase
  private unowned let loop: EventLoop
  private var action: (() -> Void)?

  init(_ phase: Phase, loop: EventLoop, action: @escaping () -> Void) {
    self.phase = phase
    self.loop = loop
    self.action = action
  }

  package func cancel() {
    guard action != nil else { return }
    action = nil
    loop.remove(self)
  }

  func run() {
    action?()
  }
}
