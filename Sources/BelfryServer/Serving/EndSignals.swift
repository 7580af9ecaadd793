import BelfryLoop
import Glibc
import Synchronization

/// SIGTERM and SIGINT: the first one drains, a second one ends the process at once.
final class EndSignals: Sendable {
  private let broker: Broker
  private let isDraining = Atomic(false)

  init(_ broker: Broker) {
    self.broker = broker
  }

  func receive(_ signal: ProcessSignal) {
    guard !isDraining.exchange(true, ordering: .relaxed) else {
      Log.line("ending at once", ["signal": "\(signal)"])
      // As a shell reports it of a process that a signal ended.
      _exit(128 + signal.rawValue)
    }
    Log.line("draining", ["signal": "\(signal)"])
    broker.drain()
  }
}
