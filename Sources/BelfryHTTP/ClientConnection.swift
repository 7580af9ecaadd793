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
  /// The text that `target` was read from; empty if it is too long to be kept.
  private var targetText: [UInt8] = []
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
  /// - Parameter target: read before this function returns; nil if MHD found none.
  func begin(_ target: UnsafePointer<CChar>?, deadline: ContinuousClock.Instant) {
    unsafe targetPlace = target.map { unsafe TargetPlace($0) }
    unsafe readTarget(target)
    // The first request's time has run since the connection was made.
    if phase != .receiving { enter(.receiving, until: deadline) }
  }

  /// Clients mostly ask for the same target again. To see that costs less than to take the target apart.
  private func readTarget(_ target: UnsafePointer<CChar>?) {
    guard let target = unsafe target else {
      (self.target, targetText) = (nil, [])
      return
    }
    // SAFETY: MHD has ended the text with a zero.
    let bytes = unsafe UnsafeRawBufferPointer(start: target, count: strlen(target))
    if !targetText.isEmpty, unsafe bytes.elementsEqual(targetText) { return }
    self.target = unsafe String(validatingCString: target).flatMap { RequestTarget($0) }
    targetText = unsafe bytes.count <= Self.targetTextBytesMax ? Array(bytes) : []
  }

  private static let targetTextBytesMax = 128

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
