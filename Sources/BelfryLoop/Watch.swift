package import BelfrySystem

/// A descriptor that the loop watches, on the loop's thread, until `cancel()`. Cancel before closing the descriptor:
/// the kernel may hand the same number out again.
package final class Watch {
  private unowned let loop: EventLoop
  let descriptor: Int32
  /// Generation and descriptor. Tells its events from those of an earlier watch on the same descriptor number, which
  /// may still be in the batch that is being dispatched.
  let token: UInt64
  private var handler: ((Readiness) -> Void)?
  private var interest: Readiness

  init(
    loop: EventLoop, descriptor: Int32, generation: UInt32, interest: Readiness,
    handler: @escaping (Readiness) -> Void
  ) {
    self.loop = loop
    self.descriptor = descriptor
    self.token = UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor))
    self.interest = interest
    self.handler = handler
  }

  package var isCancelled: Bool { handler == nil }

  /// Changes what is waited for. Hang-ups and errors are reported even for an empty set.
  package func update(_ interest: Readiness) throws(SystemError) {
    guard !isCancelled, interest != self.interest else { return }
    try loop.change(self, interest)
    self.interest = interest
  }

  /// The handler is not called again, not even for an event already taken from the kernel.
  package func cancel() {
    guard !isCancelled else { return }
    handler = nil
    loop.remove(self)
  }

  func dispatch(_ readiness: Readiness) {
    handler?(readiness)
  }
}

/// The watches by descriptor number, which the kernel keeps small and dense.
struct WatchTable {
  private var watches: [Watch?] = []
  private var generation: UInt32 = 0

  mutating func nextGeneration() -> UInt32 {
    generation &+= 1
    return generation
  }

  mutating func insert(_ watch: Watch) {
    let index = Int(watch.descriptor)
    while watches.count <= index { watches.append(nil) }
    watches[index] = watch
  }

  mutating func remove(_ watch: Watch) {
    let index = Int(watch.descriptor)
    guard index < watches.count, watches[index] === watch else { return }
    watches[index] = nil
  }

  func find(token: UInt64) -> Watch? {
    let index = Int(UInt32(truncatingIfNeeded: token))
    guard index < watches.count, let watch = watches[index], watch.token == token else { return nil }
    return watch
  }
}
