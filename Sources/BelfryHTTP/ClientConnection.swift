import BelfryLoop
import CMicroHTTPD
import Glibc

/// One connection that MHD holds, and when it times out.
@safe final class ClientConnection {
  enum Phase {
    /// A request is arriving, or is expected on a new connection.
    case receiving
    /// The handler has the request; there is no deadline.
    case handling
    case responding
    /// Between two requests.
    case idle
  }

  /// MHD's connection; valid until MHD's notice that it closed.
  let handle: OpaquePointer
  let descriptor: Int32
  let client: ClientAddress
  private(set) var phase = Phase.receiving
  private var deadline: ContinuousClock.Instant?
  /// The target of the request that is arriving; nil if it is malformed.
  private(set) var target: RequestTarget?
  private(set) var targetPlace: TargetPlace?
  var exchange: HTTPExchange?
  /// Its index in the daemon's table.
  var position = 0

  init(_ handle: OpaquePointer, deadline: ContinuousClock.Instant) {
    unsafe self.handle = handle
    unsafe descriptor = mhd_descriptor(handle)
    unsafe client = ClientAddress(mhd_client_address(handle))
    self.deadline = deadline
  }

  /// The request's first line has arrived.
  func begin(_ target: RequestTarget?, at place: TargetPlace?, deadline: ContinuousClock.Instant) {
    self.target = target
    targetPlace = place
    // The first request's time has run since the connection was made.
    if phase != .receiving { enter(.receiving, until: deadline) }
  }

  func enter(_ phase: Phase, until deadline: ContinuousClock.Instant?) {
    self.phase = phase
    self.deadline = deadline
  }

  var hasRequest: Bool {
    switch phase {
    // Before the first line there is no request yet.
    case .receiving: target != nil
    case .handling, .responding: true
    case .idle: false
    }
  }

  func isOverdue(at now: ContinuousClock.Instant) -> Bool {
    deadline.map { $0 <= now } ?? false
  }

  /// Shuts the socket down, upon which MHD closes the connection.
  /// - Parameter farewell: sent first, as far as the kernel takes it at once. Only while MHD sends nothing.
  func cut(farewell: [UInt8] = []) {
    deadline = nil
    if !farewell.isEmpty { _ = send(farewell) }
    shutdown(descriptor, Int32(SHUT_RDWR))
  }

  /// Writes to the socket directly. Only while MHD sends nothing.
  /// - Returns: whether the kernel took all of it at once.
  func send(_ bytes: [UInt8]) -> Bool {
    let sent = unsafe bytes.withUnsafeBytes {
      unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
    return sent == bytes.count
  }
}
