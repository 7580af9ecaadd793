import BelfrySystem
import Synchronization

/// A value that comes from files, which are read again while the broker runs. So keys and certificates can be
/// replaced without a restart.
///
/// The files have a few kilobytes, and each look reads them whole and compares the values. So no clock and no
/// file system can make it mistake a new value for the old one.
final class RereadFiles<Value: Equatable & Sendable>: Sendable {
  typealias Reading = @Sendable () throws(StartError) -> Value

  private let failureEvent: String
  private let recoveryEvent: String
  private let read: Reading
  private let onChange: @Sendable (Value) throws(StartError) -> Void
  private let known: Mutex<Known>

  private struct Known {
    /// The value that was read last.
    var value: Value
    /// False if `onChange` refused the value.
    var isUsed = true
    /// The last failure, until the files can be used again.
    var failure: StartError?
  }

  /// - Parameters:
  ///   - failureEvent: the event that is logged if the files cannot be used.
  ///   - recoveryEvent: the event that is logged when they can be used again.
  ///   - onChange: receives a new value. If it throws, the value is not usable, just as if the files could
  ///     not be read.
  init(
    from value: Value, reading read: @escaping Reading, onFailure failureEvent: String,
    onRecovery recoveryEvent: String,
    onChange: @escaping @Sendable (Value) throws(StartError) -> Void
  ) {
    self.failureEvent = failureEvent
    self.recoveryEvent = recoveryEvent
    self.read = read
    self.onChange = onChange
    known = Mutex(Known(value: value))
  }

  /// A file that cannot be read or used changes nothing: somebody is writing it, or made a mistake that must
  /// not lock everybody out.
  func look() {
    do throws(StartError) {
      let value = try read()
      let before = known.withLock { $0 }
      if before.value == value, !before.isUsed { return }
      if before.value != value {
        known.withLock { ($0.value, $0.isUsed) = (value, false) }
        try onChange(value)
      }
      known.withLock { ($0.isUsed, $0.failure) = (true, nil) }
      if before.failure != nil { Log.line(recoveryEvent) }
    } catch {
      let isNews = known.withLock { known in
        defer { known.failure = error }
        return known.failure != error
      }
      if isNews { Log.line(failureEvent, ["cause": error.description]) }
    }
  }
}
