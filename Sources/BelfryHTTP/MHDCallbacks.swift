import BelfryLoop
import CMicroHTTPD

// What MHD calls, on the loop's thread, inside `MHD_run`. Functions and not closures, which would take on the isolation
// of the code around them.
//
// SAFETY: MHD hands back the pointers it was given. The daemon stops MHD before it goes itself; a connection's object is
// retained for MHD from the notice that it opened to the notice that it closed.

nonisolated func connectionChanged(
  _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
  _ socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ change: MHD_ConnectionNotificationCode
) {
  guard let daemon = unsafe daemon(context), let handle = unsafe handle else { return }
  if change == .CONNECTION_NOTIFY_STARTED {
    let connection = unsafe daemon.insert(handle)
    unsafe socketContext?.pointee = Unmanaged.passRetained(connection).toOpaque()
  } else if let pointer = unsafe socketContext?.pointee {
    let connection = unsafe Unmanaged<ClientConnection>.fromOpaque(pointer).takeRetainedValue()
    unsafe socketContext?.pointee = nil
    daemon.remove(connection)
  }
}

/// Called with the request's first line. What it returns is handed to each call of `requestAdvanced`.
nonisolated func requestBegun(
  _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ handle: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  guard let daemon = unsafe daemon(context), let handle = unsafe handle,
    let pointer = unsafe mhd_socket_context(handle)
  else { return nil }
  let deadline = daemon.loop.now + daemon.limits.requestTime
  unsafe connection(pointer)?.begin(target, deadline: deadline)
  unsafe target.map { unsafe mhd_hide_query($0) }
  return unsafe pointer
}

/// Called with the headers, with each piece of the body, and once more when it is complete.
nonisolated func requestAdvanced(
  _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ url: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
  _ uploadSize: UnsafeMutablePointer<Int>?,
  _ requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let daemon = unsafe daemon(context), let connection = unsafe connection(requestContext?.pointee)
  else { return .NO }
  // A request that began to wait now would be suspended when MHD is stopped, which MHD does not allow.
  guard !daemon.isStopping else { return .NO }
  guard let exchange = connection.exchange else {
    guard let method = unsafe method, let version = unsafe version else { return .NO }
    return unsafe daemon.begin(connection, method: method, version: version) ? .YES : .NO
  }
  guard let size = unsafe uploadSize?.pointee, size > 0, let upload = unsafe upload else {
    return exchange.proceed() ? .YES : .NO
  }
  unsafe uploadSize?.pointee = 0
  let bytes = unsafe UnsafeBufferPointer(
    start: UnsafeRawPointer(upload).assumingMemoryBound(to: UInt8.self), count: size)
  return unsafe exchange.receive(bytes) ? .YES : .NO
}

nonisolated func requestCompleted(
  _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
  _ requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
  guard let daemon = unsafe daemon(context), let connection = unsafe connection(requestContext?.pointee)
  else { return }
  let exchange = connection.exchange
  connection.exchange = nil
  connection.enter(.idle, until: daemon.loop.now + daemon.limits.keepAliveTime)
  exchange?.complete()
}

private func daemon(_ context: UnsafeMutableRawPointer?) -> HTTPDaemon? {
  unsafe context.map { unsafe Unmanaged<HTTPDaemon>.fromOpaque($0).takeUnretainedValue() }
}

private func connection(_ context: UnsafeMutableRawPointer?) -> ClientConnection? {
  unsafe context.map { unsafe Unmanaged<ClientConnection>.fromOpaque($0).takeUnretainedValue() }
}
