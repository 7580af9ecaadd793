/// An action that runs in every iteration, after the jobs and before the loop waits.
package final class LoopHook {
  private unowned let loop: EventLoop
  private var action: (() -> Void)?

  init(loop: EventLoop, action: @escaping () -> Void) {
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
