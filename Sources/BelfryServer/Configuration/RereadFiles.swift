import BelfrySystem
import Synchronization

/// What some files say, read again while the broker runs, so that keys and certificates are replaced without a restart.
///
/// They are read whole each time, a few kilobytes, and compared by what they mean: no clock and no file system can make it
/// take what is new for what it has.
final class RereadFiles<Value: Equatable & Sendable>: Sendable {
  typealias Reading = @Sendable () throws(StartError) -> Value

  private let failureEvent: String
  private let read: Reading
  private let onChange: @Sendable (Value) throws(StartError) -> Void
  private let known: Mutex<(value: Value, failure: StartError?)>

  /// - Parameters:
  ///   - failureEvent: what the log is told when they cannot be used.
  ///   - onChange: if it throws, the files are as bad as if they could not be read.
  init(
    from value: Value, reading read: @escaping Reading, onFailure failureEvent: String,
    onChange: @escaping @Sendable (Value) throws(StartError) -> Void
  ) {
    self.failureEvent = failureEvent
    self.read = read
    self.onChange = onChange
    known = Mutex((value, nil))
  }

  /// What cannot be read or used leaves everything as it is: somebody is writing it, or made a mistake that must not lock
  /// everybody out.
  func look() {
    do throws(StartError) {
      let value = try read()
      let isNew = known.withLock { known in
        defer { known = (value, nil) }
        return known.value != value
      }
      if isNew { try onChange(value) }
    } catch {
      let isNews = known.withLock { known in
        defer { known.failure = error }
        return known.failure != error
      }
      if isNews { Log.line(failureEvent, ["cause": error.description]) }
    }
  }
}
