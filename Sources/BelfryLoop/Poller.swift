import BelfrySystem
import CLinux
import Glibc

/// The loop's epoll instance. Level-triggered: a handler that leaves something unread is called again.
@safe struct Poller: ~Copyable {
  /// Events taken from the kernel in one call; more wait for the next iteration.
  static let eventsPerWait = 256

  private let epoll: Int32
  /// Readable while events wait: an epoll instance can be polled itself.
  var descriptor: Int32 { epoll }
  private let events: UnsafeMutableBufferPointer<epoll_event>

  init() throws(SystemError) {
    epoll = try systemCall("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) }
    unsafe events = .allocate(capacity: Poller.eventsPerWait)
    unsafe events.initialize(repeating: epoll_event())
  }

  deinit {
    unsafe events.deallocate()
    close(epoll)
  }

  func add(_ descriptor: Int32, _ interest: Readiness, token: UInt64) throws(SystemError) {
    try control(EPOLL_CTL_ADD, descriptor, interest, token: token)
  }

  func change(_ descriptor: Int32, _ interest: Readiness, token: UInt64) throws(SystemError) {
    try control(EPOLL_CTL_MOD, descriptor, interest, token: token)
  }

  /// No error if the descriptor was closed before: the kernel has removed it then.
  func remove(_ descriptor: Int32) {
    epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil)
  }

  /// Waits and returns the number of events; a signal in between counts as none.
  /// - Parameter timeoutMilliseconds: -1 waits without end, 0 does not wait.
  func wait(timeoutMilliseconds: Int32) throws(SystemError) -> Int {
    let count = unsafe epoll_wait(epoll, events.baseAddress, Int32(events.count), timeoutMilliseconds)
    if count >= 0 { return Int(count) }
    if errno == EINTR { return 0 }
    throw SystemError(cause: errno, place: "epoll_wait")
  }

  /// - Parameter index: less than the number that the last `wait` returned.
  func event(_ index: Int) -> (token: UInt64, readiness: Readiness) {
    let event = unsafe events[index]
    return unsafe (event.data.u64, Readiness(rawValue: event.events))
  }

  private func control(
    _ operation: Int32, _ descriptor: Int32, _ interest: Readiness, token: UInt64
  ) throws(SystemError) {
    var event = unsafe epoll_event()
    unsafe event.events = interest.rawValue
    unsafe event.data.u64 = token
    try systemCall("epoll_ctl") { unsafe epoll_ctl(epoll, operation, descriptor, &event) }
  }
}

/// The operations that a descriptor is ready for, or that a caller waits for.
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
