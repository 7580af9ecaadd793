import CLinux

/// What a descriptor is ready for, or what one waits for.
package struct Readiness: OptionSet, Sendable, Hashable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  package static let readable = Readiness(rawValue: EPOLLIN.rawValue)
  package static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
  /// The other side has closed its direction: it will send nothing more. Reported when asked for.
  package static let peerClosed = Readiness(rawValue: EPOLLRDHUP.rawValue)
  /// Reported whether asked for or not: the other side has closed both directions.
  package static let hangup = Readiness(rawValue: EPOLLHUP.rawValue)
  /// Reported whether asked for or not: the socket carries an error.
  package static let error = Readiness(rawValue: EPOLLERR.rawValue)
}
