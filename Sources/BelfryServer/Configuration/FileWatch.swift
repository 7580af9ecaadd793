import BelfrySystem

/// Looks at files and disks at intervals, and when it is asked to. It runs on its own thread, because they may be on a
/// slow network.
final class FileWatch: Sendable {
  /// The longest time for which a broker accepts a key that was removed, refuses a key that was added, or
  /// shows a certificate that was replaced.
  static let interval: Duration = .seconds(2)

  private let looks: [@Sendable () -> Void]
  private let lookRequest: EventDescriptor
  private let stopRequest: EventDescriptor

  init(_ looks: [@Sendable () -> Void]) throws(StartError) {
    self.looks = looks
    lookRequest = try StartError.system(EventDescriptor.init)
    stopRequest = try StartError.system(EventDescriptor.init)
  }

  func run() {
    while true {
      _ = Poll.readable([stopRequest.descriptor, lookRequest.descriptor], until: .now + Self.interval)
      if stopRequest.isSet { return }
      lookRequest.clear()
      for look in looks { look() }
    }
  }

  func lookNow() { lookRequest.set() }

  func requestStop() { stopRequest.set() }
}
