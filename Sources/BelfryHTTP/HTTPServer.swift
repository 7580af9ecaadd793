package import BelfryLoop
import BelfrySystem
package import BelfryTransport
import Glibc

/// An HTTP server on one loop, until `stop()`.
package final class HTTPServer {
  package let port: Int
  let loop: EventLoop
  let limits: HTTPLimits
  let handler: any HTTPHandler
  let budgets: HTTPBudgets
  let readBuffer = ReadBuffer()
  var date = HTTPDate()
  private let namesOnce: [String]
  private let streams: StreamSet
  private var listenDescriptor: Int32
  private var acceptor: Acceptor?
  private var handshakes: HandshakeSet?
  private var connections: [HTTPConnection] = []
  /// The connections that have more to do than one turn of the loop allows.
  private var unfinished = Queue<HTTPConnection>()
  /// Found in one look at all connections, since each new client may need another.
  private var sheddable = Queue<ShedOrder.Candidate>()
  private var hook: LoopHook?
  private var sweepTimer: LoopTimer?
  private(set) var isQuiesced = false
  private var firstRequestsUntil: ContinuousClock.Instant?
  private(set) var isStopping = false

  /// - Parameters:
  ///   - socket: owned by the server from here on.
  ///   - budgets: shared with the broker's other servers.
  ///   - tls: shared with them, too; nil: connections are not encrypted.
  package init(
    on loop: EventLoop, listening socket: ListenSocket, limits: HTTPLimits = HTTPLimits(),
    budgets: HTTPBudgets = HTTPBudgets(), tls: ServerTLS? = nil, handler: any HTTPHandler
  ) throws(HTTPError) {
    self.loop = loop
    self.limits = limits
    self.budgets = budgets
    self.handler = handler
    namesOnce = handler.fieldsGivenOnce
    port = socket.port
    listenDescriptor = socket.descriptor
    streams = StreamSet(loop: loop, limits: limits)
    do throws(SystemError) {
      acceptor = try Acceptor(listenDescriptor, for: self)
    } catch {
      close(listenDescriptor)
      throw HTTPError(
        code: .startRefused, cause: error.description, place: "listening on port \(socket.port)")
    }
    handshakes = tls.map { HandshakeSet(by: $0, for: self) }
    streams.onRemoved = { [unowned self] in acceptor?.resume() }
    hook = loop.beforeWaiting(.serve) { self.beforeWaiting() }
    sweep()
  }

  package var openConnections: Int { connections.count + streams.count + openHandshakes }
  package var openHandshakes: Int { handshakes?.count ?? 0 }
  /// nil if connections are not encrypted.
  package var handshakeCounts: HTTPHandshakeCounts? { handshakes?.counts }
  package var openStreams: Int { streams.count }
  /// Connections with a request, until the kernel has the last byte of its answer. For a moment after
  /// ``quiesce()``, these include connections whose first request may be on its way.
  package var openRequests: Int {
    let isWaiting = firstRequestsUntil.map { loop.now < $0 } ?? false
    return connections.count { $0.hasRequest || isWaiting && $0.shedPlace?.reason == .silent }
  }

  /// Accepts those that wait and no more connections, closes idle ones, and closes the others after their answers. Streams
  /// go on; the server is drained when `openRequests` and `openStreams` are 0.
  package func quiesce() {
    guard !isQuiesced else { return }
    isQuiesced = true
    firstRequestsUntil = loop.now + HTTPLimits.firstRequestTime
    acceptor?.acceptWaiting()
    closeListenSocket()
    handshakes?.closeAll()
    for connection in connections where connection.phase == .idle { connection.close() }
  }

  private func closeListenSocket() {
    acceptor?.stop()
    guard listenDescriptor >= 0 else { return }
    close(listenDescriptor)
    listenDescriptor = -1
  }

  /// Ends all streams and abandons requests that have no answer yet.
  package func stop() {
    guard !isStopping else { return }
    isStopping = true
    hook?.cancel()
    sweepTimer?.cancel()
    quiesce()
    streams.finishAll(.stopping)
    while let connection = connections.last { connection.close() }
  }
}

// MARK: Turns

extension HTTPServer {
  /// Lets streams that were woken send now instead of before the loop waits, while what they send is still in the
  /// processor's caches.
  /// - Returns: false when this turn's streams have sent, and the rest must wait for the next turn.
  package func pumpStreams() -> Bool { streams.pump() }

  /// Lets the connection go on after the others have had their turn.
  func advanceLater(_ connection: HTTPConnection) {
    unfinished.append(connection)
    loop.requireHooks()
  }

  private func beforeWaiting() {
    _ = streams.pump()
    streams.beginTurn()
    for _ in 0..<unfinished.count { unfinished.popFirst()?.resume() }
    handshakes?.advance()
    // The remaining work continues after the loop has looked at its descriptors.
    if streams.hasAwake || !unfinished.isEmpty || handshakes?.isBusy == true { loop.requireHooks() }
  }

  private func sweep() {
    sweepTimer = loop.schedule(after: limits.sweepInterval) { self.sweep() }
    // Descriptors may have been freed elsewhere in the process.
    acceptor?.resume()
    endOverdue()
  }

  /// Ends connections past their deadlines. Each sweep does so, and a test may at the moment that it chooses.
  package func endOverdue() {
    for connection in connections { connection.checkDeadline(at: loop.now) }
    handshakes?.checkDeadlines(at: loop.now)
  }
}

// MARK: Connections and streams

extension HTTPServer {
  var isFull: Bool { openConnections >= limits.connectionsPerLoop }

  var hasRoomForStream: Bool { streams.count < limits.streamsPerLoop && !isStopping }

  /// Serves an accepted connection.
  func take(_ descriptor: Int32, from client: ClientAddress) {
    if let handshakes {
      handshakes.take(descriptor, from: client)
    } else {
      take(SocketTransport(descriptor), from: client)
    }
  }

  /// - Parameter refusal: the refusal that the connection gets in place of service.
  func take(_ transport: any ByteTransport, from client: ClientAddress, refused refusal: HTTPRefusal? = nil) {
    do throws(SystemError) {
      let connection = try HTTPConnection(transport, from: client, of: self)
      connection.position = connections.count
      connections.append(connection)
      if let refusal { connection.answer(handler.refuse(refusal), held: nil, isLast: true) }
    } catch {
      // The kernel has no memory for another.
      transport.close()
    }
  }

  /// There is room for one more.
  func handshakeEnded() { acceptor?.resume() }

  func makeIntake() -> RequestIntake {
    RequestIntake(RequestReader(HeadLimits(bytesMax: limits.headMaxBytes), namesOnce: namesOnce))
  }

  /// Asks the handler about a request whose head is there.
  func route(_ head: HTTPRequestHead, hasTarget: Bool) -> HTTPRouting {
    guard hasTarget else {
      return .refused(handler.refuse(.malformed(detail: "the request target is not a path")))
    }
    let routing = handler.route(head)
    guard case .routed(let request) = routing else { return routing }
    // Results of finished work are kept in any case, so no more work is done for an account that does not
    // take them.
    if let account = request.account, budgets.answers.isExhausted(by: account) {
      return .refused(handler.refuse(HTTPRefusal(.owner)))
    }
    guard let length = head.contentLength, length > request.bodyMaxBytes else { return routing }
    return .refused(handler.refuse(.bodyTooLarge(limitBytes: request.bodyMaxBytes)))
  }

  /// Closes the connection that is needed least.
  /// - Returns: false if each of them has a request, or streams.
  func shedOne() -> Bool {
    if handshakes?.endLongestSilent() == true { return true }
    if sheddable.isEmpty {
      let newUntil = loop.now + limits.requestTime - HTTPLimits.newTime
      sheddable = ShedOrder.first(HTTPLimits.shedAtOnce, of: connections, newUntil: newUntil)
    }
    while let next = sheddable.popFirst() {
      // It may have gone on since it was found.
      guard next.connection.shedPlace == next.place else { continue }
      next.connection.close()
      return true
    }
    return false
  }

  /// The last connection takes its index in the table.
  func remove(_ connection: HTTPConnection) {
    defer { acceptor?.resume() }
    let last = connections.removeLast()
    guard last !== connection else { return }
    connections[connection.position] = last
    last.position = connection.position
  }

  /// Gives a connection to a stream.
  func openStream(
    on transport: any ByteTransport, head: [UInt8], isChunked: Bool, hasBody: Bool,
    source: any HTTPStreamSource, receiver: (any HTTPStreamReceiver)? = nil
  ) -> HTTPStream? {
    do throws(SystemError) {
      let stream = try HTTPStream(
        on: transport, head: head, isChunked: isChunked, hasBody: hasBody, source: source, receiver: receiver,
        in: streams)
      streams.insert(stream)
      return stream
    } catch {
      transport.close()
      source.finished(.refused)
      return nil
    }
  }
}
