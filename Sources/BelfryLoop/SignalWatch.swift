package import BelfrySystem
import CLinux
import Glibc

/// A signal sent to the process. A loop receives it as an event, so its handler may do what any code may.
package enum ProcessSignal: Int32, Sendable, CaseIterable {
  case hangup = 1
  case interrupt = 2
  case terminate = 15

  /// Holds the signals back from every thread started later, so that they wait for a `SignalWatch` instead of
  /// ending the process. Call it first thing in `main`. A child process inherits the mask, so code that
  /// spawns one clears the child's signal mask.
  package static func block(_ signals: [ProcessSignal] = allCases) {
    var set = ProcessSignal.set(signals)
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Lets the signals end the process, as they do by default. Its parent may have held them back, which a process
  /// inherits.
  package static func unblock(_ signals: [ProcessSignal] = allCases) {
    var set = ProcessSignal.set(signals)
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  /// Makes a write to a closed connection fail with an error (EPIPE) instead of ending the process.
  package static func ignoreBrokenPipes() {
    _ = signal(SIGPIPE, SIG_IGN)
  }

  static func set(_ signals: [ProcessSignal]) -> sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in signals { unsafe sigaddset(&set, signal.rawValue) }
    return set
  }
}

/// Calls its handler on the loop's thread for each of the signals, until it is cancelled. The signals must
/// be blocked in all threads, see `ProcessSignal.block`.
package final class SignalWatch {
  private let descriptor: Int32
  private var watch: Watch?

  package init(
    _ signals: [ProcessSignal] = ProcessSignal.allCases, on loop: EventLoop,
    _ handler: @escaping (ProcessSignal) -> Void
  ) throws(SystemError) {
    var set = ProcessSignal.set(signals)
    let descriptor = try systemCall("signalfd") {
      unsafe signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    }
    self.descriptor = descriptor
    do {
      watch = try loop.watch(descriptor, for: .readable) { _ in
        while let signal = readSignal(descriptor) { handler(signal) }
      }
    } catch {
      close(descriptor)
      throw error
    }
  }

  package func cancel() {
    guard let watch else { return }
    self.watch = nil
    watch.cancel()
    close(descriptor)
  }
}

private func readSignal(_ descriptor: Int32) -> ProcessSignal? {
  var info = signalfd_siginfo()
  let size = MemoryLayout<signalfd_siginfo>.size
  guard unsafe read(descriptor, &info, size) == size else { return nil }
  return ProcessSignal(rawValue: Int32(info.ssi_signo))
}
