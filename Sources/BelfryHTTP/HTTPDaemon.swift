package import BelfryLoop
import BelfrySystem
import CMicroHTTPD
import Glibc

/// An HTTP server on one loop, by libmicrohttpd (MHD), which parses requests and sends answers. MHD has no thread of
/// its own: it runs on the loop's thread when its epoll descriptor is readable, until `stop()`.
@safe package final class HTTPDaemon {
  package let port: Int
  let loop: EventLoop
  let limits: HTTPLimits
  let handler: any HTTPHandler
  let budgets: HTTPBudgets
  private let streams: StreamSet
  private var listenDescriptor: Int32
  private var acceptor: Acceptor?
  private var connections: [ClientConnection] = []
  private var mhd: OpaquePointer?
  private var watch: Watch?
  private var hook: LoopHook?
  private var sweepTimer: LoopTimer?
  /// MHD must run again before the loop waits: a connection was resumed, or work is left.
  private var isRunDue = false
  private var isRunning = false
  private(set) var isQuiesced = false
  private(set) var isStopping = false

  /// - Parameters:
  ///   - socket: owned by the daemon from here on.
  ///   - budgets: shared with the broker's other daemons.
  package init(
    on loop: EventLoop, listening socket: ListenSocket, limits: HTTPLimits = HTTPLimits(),
    budgets: HTTPBudgets = HTTPBudgets(), handler: any HTTPHandler
  ) throws(HTTPError) {
    self.loop = loop
    self.limits = limits
    self.budgets = budgets
    self.handler = handler
    port = socket.port
    listenDescriptor = socket.descriptor
    streams = StreamSet(loop: loop, stallTime: limits.streamStallTime)
    do throws(HTTPError) {
      try start()
    } catch {
      stop()
      throw error
    }
  }

  package var openConnections: Int { connections.count + streams.count }
  package var openStreams: Int { streams.count }
  /// Connections with a request, until the kernel has the last byte of its answer.
  package var openRequests: Int { connections.count { $0.hasRequest } }

  private func start() throws(HTTPError) {
    var options = unsafe mhd_options(
      connections: UInt32(clamping: limits.connectionsPerDaemon),
      connection_memory_bytes: limits.connectionMemoryBytes,
      context: Unmanaged.passUnretained(self).toOpaque(), access_handler: requestAdvanced,
      connection_changed: connectionChanged,
      request_completed: requestCompleted, request_begun: requestBegun)
    guard let mhd = unsafe mhd_start(&options) else {
      throw HTTPError.last(.startRefused, "MHD_start_daemon")
    }
    unsafe self.mhd = mhd
    do throws(SystemError) {
      // MHD points to the daemon, so the handlers keep it alive, until `stop()` cancels them.
      watch = try loop.watch(unsafe mhd_epoll_descriptor(mhd), for: .readable) { _ in self.run() }
      acceptor = try Acceptor(listenDescriptor, for: self)
    } catch {
      throw HTTPError(code: .startRefused, cause: error.description, place: "MHD_start_daemon")
    }
    streams.onRemoved = { [unowned self] in acceptor?.resume() }
    hook = loop.beforeWaiting(.serve) { self.beforeWaiting() }
    sweep()
  }

  /// Accepts no more connections, closes idle ones, and closes the others after their answers. Streams go on; the
  /// daemon is drained when `openRequests` and `openStreams` are 0.
  package func quiesce() {
    guard !isQuiesced else { return }
    isQuiesced = true
    closeListenSocket()
    for connection in connections where connection.phase == .idle { connection.cut() }
  }

  private func closeListenSocket() {
    acceptor?.stop()
    guard listenDescriptor >= 0 else { return }
    close(listenDescriptor)
    listenDescriptor = -1
  }

  /// Ends all streams and abandons requests that have no answer yet. Called inside one of MHD's callbacks, it takes
  /// effect when the callback has returned.
  package func stop() {
    isStopping = true
    guard !isRunning else { return }
    watch?.cancel()
    hook?.cancel()
    sweepTimer?.cancel()
    streams.finishAll(.stopping)
    for connection in connections { connection.exchange?.abandon() }
    quiesce()
    if let mhd = unsafe mhd {
      // MHD must not be stopped while a connection is suspended; one run resumes all.
      run()
      unsafe self.mhd = nil
      unsafe MHD_stop_daemon(mhd)
    }
    closeListenSocket()
  }
}

// MARK: Turns

extension HTTPDaemon {
  private func run() {
    guard let mhd = unsafe mhd, !isRunning else { return }
    isRunning = true
    for _ in 0..<Self.runsAtOnce {
      isRunDue = false
      unsafe MHD_run(mhd)
      // No event tells of a connection that was resumed or has unread input, so MHD must be run again.
      var milliseconds: UInt64 = 0
      if unsafe MHD_get_timeout(mhd, &milliseconds) == .YES, milliseconds == 0 { isRunDue = true }
      if !isRunDue || isStopping { break }
    }
    isRunning = false
  }

  /// A request with a body takes MHD two runs to read, and its answer takes two to send. In one go they take two
  /// iterations of the loop less. What is left then waits until the loop has served others.
  private static let runsAtOnce = 3

  /// Lets streams that were woken send now instead of before the loop waits, while what they send is still in the
  /// processor's caches.
  /// - Returns: false when this turn's streams have sent, and the rest must wait for the next turn.
  package func pumpStreams() -> Bool { streams.pump() }

  private func beforeWaiting() {
    _ = streams.pump()
    streams.beginTurn()
    if isRunDue { run() }
    if isStopping, unsafe mhd != nil { return stop() }
    // What is left goes on after the loop has looked at its descriptors.
    if isRunDue || streams.hasAwake { loop.requireHooks() }
  }

  /// Ends connections past their deadlines.
  private func sweep() {
    sweepTimer = loop.schedule(after: HTTPLimits.sweepInterval) { self.sweep() }
    // Descriptors may have been freed elsewhere in the process.
    acceptor?.resume()
    for connection in connections where connection.isOverdue(at: loop.now) {
      let isReceiving = connection.phase == .receiving
      connection.cut(farewell: isReceiving ? ResponseHead.render(handler.refuse(.timeout)) : [])
    }
  }

  func resume(_ connection: ClientConnection) {
    guard unsafe mhd != nil else { return }
    unsafe MHD_resume_connection(connection.handle)
    isRunDue = true
    loop.requireHooks()
  }

  func responding(_ connection: ClientConnection, isSuspended: Bool) {
    connection.enter(.responding, until: loop.now + limits.responseTime)
    if isSuspended { resume(connection) }
  }
}

// MARK: Connections and streams

extension HTTPDaemon {
  var isFull: Bool { openConnections >= limits.connectionsPerDaemon }

  /// Hands an accepted connection to MHD.
  func take(_ client: Int32, _ address: UnsafePointer<sockaddr>?, _ length: socklen_t) {
    guard let mhd = unsafe mhd, !isStopping else {
      close(client)
      return
    }
    // MHD closes the descriptor if it does not take it.
    _ = unsafe MHD_add_connection(mhd, client, address, length)
    isRunDue = true
    loop.requireHooks()
  }

  func insert(_ handle: OpaquePointer) -> ClientConnection {
    let connection = unsafe ClientConnection(handle, deadline: loop.now + limits.requestTime)
    connection.position = connections.count
    connections.append(connection)
    return connection
  }

  /// The last connection takes its index in the table.
  func remove(_ connection: ClientConnection) {
    defer { acceptor?.resume() }
    let last = connections.removeLast()
    guard last !== connection else { return }
    connections[connection.position] = last
    last.position = connection.position
  }

  /// Gives a connection's socket to a stream.
  /// - Returns: nil if there are too many streams or descriptors.
  func openStream(
    on connection: ClientConnection, head: [UInt8], isChunked: Bool, hasBody: Bool,
    source: any HTTPStreamSource
  ) -> HTTPStream? {
    guard streams.count < limits.streamsPerDaemon, !isStopping else { return nil }
    // A duplicate: MHD closes its own descriptor when it lets go of the connection.
    let descriptor = fcntl(connection.descriptor, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { return nil }
    do throws(SystemError) {
      let stream = try HTTPStream(
        descriptor: descriptor, head: head, isChunked: isChunked, hasBody: hasBody, source: source,
        in: streams)
      streams.insert(stream)
      return stream
    } catch {
      close(descriptor)
      return nil
    }
  }
}
