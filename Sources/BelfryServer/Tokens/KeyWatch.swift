import BelfrySystem
import Synchronization

/// Reads the files with keys again while the broker runs, so that keys are rotated without a restart. On a thread of
/// its own: files may be far away.
///
/// It reads them whole each time, a few kilobytes, and compares what they mean: no clock and no file system can make it
/// take what is new for what it has.
final class KeyWatch: Sendable {
  typealias Reading = @Sendable () throws(StartError) -> TokenKeys

  /// How long a broker may go on accepting a key that was taken away, or refusing one that was added.
  static let interval: Duration = .seconds(2)

  private let read: Reading
  private let onChange: @Sendable (TokenKeys) -> Void
  private let stopRequest: EventDescriptor
  private let known: Mutex<(keys: TokenKeys, failure: StartError?)>

  init(
    from keys: TokenKeys, reading read: @escaping Reading, onChange: @escaping @Sendable (TokenKeys) -> Void
  ) throws(StartError) {
    self.read = read
    self.onChange = onChange
    stopRequest = try StartError.system(EventDescriptor.init)
    known = Mutex((keys, nil))
  }

  func run() {
    while !stopRequest.wait(until: .now + Self.interval) { look() }
  }

  func requestStop() { stopRequest.set() }

  /// What cannot be read leaves the keys as they are: somebody is writing it, or made a mistake that must not lock
  /// everybody out.
  private func look() {
    do throws(StartError) {
      let keys = try read()
      let isNew = known.withLock { known in
        defer { known = (keys, nil) }
        return known.keys != keys
      }
      if isNew { onChange(keys) }
    } catch {
      let isNews = known.withLock { known in
        defer { known.failure = error }
        return known.failure != error
      }
      if isNews { Log.line("keys stay as they were", ["cause": error.description]) }
    }
  }
}
