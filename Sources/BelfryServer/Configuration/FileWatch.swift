import BelfrySystem

/// Looks at files every now and then, and when it is asked to. On a thread of its own: files may be far away.
final class FileWatch: Sendable {
  /// How long a broker may go on accepting a key that was taken away, refusing one that was added, or showing a
  /// certificate that was replaced.
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
