import BelfryLoop
import TestKit

/// An actor on a loop, as the layers above have them: what it does runs on the loop's thread.
actor Resident {
  nonisolated let loop: EventLoop
  var log: [String] = []

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop) {
    self.loop = loop
  }

  func note(_ line: String) {
    log.append(line)
  }

  func run<R: Sendable>(_ body: @Sendable (isolated Resident) async throws -> R) async rethrows -> R {
    try await withTaskExecutorPreference(loop) { try await body(self) }
  }
}

/// Gives the body an actor on a loop that runs on its own thread.
func withLoop<R>(_ body: (Resident) async throws -> R) async throws -> R {
  try await TestKit.withLoop { try await body(Resident(on: $0)) }
}

/// Lets tests wait on the loop for something that a callback does.
final class Gate {
  private(set) var isOpen = false
  private var waiter: CheckedContinuation<Void, Never>?

  func open() {
    isOpen = true
    waiter?.resume()
    waiter = nil
  }

  func wait() async {
    guard !isOpen else { return }
    await withCheckedContinuation { waiter = $0 }
  }
}
