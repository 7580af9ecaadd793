import BelfryBytes
import BelfryLoop
import CMicroHTTPD
import Glibc

/// One request and its answer, which is given once, now or later, on the loop.
package final class HTTPExchange {
  enum State {
    case receiving
    /// The refusal has left; the body is read on and thrown away, so that the client can see it.
    case refused
    /// Inside the handler's call, which is inside MHD's.
    case handling
    /// The connection is suspended until there is an answer.
    case waiting
    case answered
    /// A stream has the socket, and MHD is to forget it.
    case handedOver
    /// The client is gone, or the daemon stopped.
    case over
  }

  let connection: ClientConnection
  private unowned let daemon: HTTPDaemon
  private(set) var state = State.receiving
  private var body: RequestBody
  private let bodyMaxBytes: Int
  private let account: UTF8Text?
  /// Counts the answer; given back when MHD is through with the request.
  private var answerHeld: HeldBytes?
  private let head: HTTPRequestHead
  private let isHTTP11: Bool
  /// Nil of a request that is refused before its body.
  private let routed: (any HTTPRoutedRequest)?
  private var clientWatch: Watch?

  /// Called when the client leaves before it has its answer, so that work for it can end. Nobody needs to
  /// answer then. A client that closes only its sending side counts as gone.
  package var onClientGone: (() -> Void)? {
    didSet { if state == .waiting { watchClient() } }
  }

  init(
    _ head: HTTPRequestHead, isHTTP11: Bool, _ routing: HTTPRouting, on connection: ClientConnection,
    of daemon: HTTPDaemon
  ) {
    var refusal: HTTPResponse?
    var held: HeldBytes?
    switch routing {
    case .refused(let response):
      (routed, account, bodyMaxBytes) = (nil, nil, 0)
      refusal = response
    case .routed(let request):
      (routed, account, bodyMaxBytes) = (request, request.account, request.bodyMaxBytes)
      // Nothing is allocated for the many that have no body, or one that is not counted.
      if head.contentLength.map({ $0 > HeldBytes.uncountedBytes }) ?? true {
        held = HeldBytes(of: daemon.budgets.bodies, for: account)
      }
    }
    self.head = head
    self.isHTTP11 = isHTTP11
    self.connection = connection
    self.daemon = daemon
    body = RequestBody(
      announcedBytes: head.contentLength ?? 0, limitBytes: bodyMaxBytes, drainBytes: daemon.limits.drainBytes,
      held: held, refusal: refusal)
  }

  /// Answers. If the client has gone, nothing happens.
  package func respond(_ response: HTTPResponse) { respond(response, isLast: false) }

  /// - Parameter isLast: the connection ends with it.
  private func respond(_ response: HTTPResponse, isLast: Bool) {
    guard state == .handling || state == .waiting else { return checkAnsweredOnce() }
    let isSuspended = state == .waiting
    stopWatchingClient()
    let isLast = isLast || daemon.isQuiesced
    let isQueued = unsafe queue(held(response), on: connection.handle, isLast: isLast)
    state = isQueued ? .answered : .over
    daemon.responding(connection, isSuspended: isSuspended)
  }

  /// Counts an answer until it has been taken.
  /// - Returns: it, or that there is no room for it. What says that something was done is given in any case; whoever
  ///   holds too much of it is not let in with anything more.
  private func held(_ response: HTTPResponse) -> HTTPResponse {
    guard response.body.count > HeldBytes.uncountedBytes else { return response }
    let held = HeldBytes(of: daemon.budgets.answers, for: account)
    let isRead = head.method == Self.get
    if let shortage = held.grow(to: response.body.count, isForced: !isRead) {
      return daemon.handler.refuse(HTTPRefusal(shortage))
    }
    answerHeld = held
    return response
  }

  private static let get: UTF8Text = "GET"
  private static let head: UTF8Text = "HEAD"

  /// Answers with what the source has, now and later. The source is first asked before the loop waits.
  @discardableResult
  package func stream(
    status: Int = 200, headers: [(name: String, value: String)], source: any HTTPStreamSource
  ) -> HTTPStream? {
    guard state == .handling || state == .waiting else {
      checkAnsweredOnce()
      source.finished(.clientGone)
      return nil
    }
    let isHead = head.method == Self.head
    let framing: ResponseHead.Framing = isHTTP11 ? .chunked : .untilClose
    let stream = daemon.openStream(
      on: connection, head: ResponseHead.render(status: status, headers: headers, framing: framing),
      isChunked: isHTTP11, hasBody: !isHead, source: source)
    guard let stream else {
      respond(daemon.handler.refuse(.tooManyStreams))
      source.finished(.refused)
      return nil
    }
    let isSuspended = state == .waiting
    stopWatchingClient()
    state = .handedOver
    if isSuspended { daemon.resume(connection) }
    return stream
  }

  private func checkAnsweredOnce() {
    assert(state == .over, "an exchange is answered once")
  }
}

// MARK: What MHD's callbacks tell it

extension HTTPExchange {
  /// - Returns: whether to go on with the connection.
  func receive(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    switch unsafe body.append(bytes) {
    case .more:
      return true
    case .tooLarge:
      return refuseInTheMiddle(daemon.handler.refuse(.bodyTooLarge(limitBytes: bodyMaxBytes)))
    case .short(let shortage):
      return refuseInTheMiddle(daemon.handler.refuse(HTTPRefusal(shortage)))
    case .hopeless(let refusal):
      // MHD takes no answer while a body arrives, so it goes out past it.
      connection.cut(farewell: state == .refused ? [] : ResponseHead.render(refusal))
      return false
    }
  }

  /// A client that pauses within a long body learns at once that it is refused. What is left of a short one, or of one in
  /// chunks, is waited for, and the connection goes on.
  private func refuseInTheMiddle(_ refusal: HTTPResponse) -> Bool {
    let isLong = body.missingBytes.map { $0 > HTTPLimits.awaitedBytes } ?? false
    body.refuse(refusal)
    return isLong ? refuseWhileReceiving(refusal) : true
  }

  /// Answers before the body, which MHD then does not read.
  /// - Returns: whether to go on with the connection.
  func refuseEarly(_ refusal: HTTPResponse, isLast: Bool) -> Bool {
    state = .handling
    respond(refusal, isLast: isLast)
    return state == .answered
  }

  /// Answers at once, past MHD, and goes on reading: closed while it sends, a client seldom sees the answer.
  /// - Returns: whether to go on with the connection, which ends after the body.
  func refuseWhileReceiving(_ refusal: HTTPResponse) -> Bool {
    state = .refused
    connection.enter(.responding, until: daemon.loop.now + daemon.limits.requestTime)
    return connection.send(ResponseHead.render(refusal))
  }

  /// The request is complete, or the connection was resumed.
  /// - Returns: whether to go on with the connection.
  func proceed() -> Bool {
    if state == .receiving { handle() }
    switch state {
    case .answered:
      return true
    case .handling:
      state = .waiting
      unsafe MHD_suspend_connection(connection.handle)
      watchClient()
      return true
    case .receiving, .refused, .waiting, .handedOver, .over:
      return false
    }
  }

  private func handle() {
    state = .handling
    connection.enter(.handling, until: nil)
    if let refusal = body.refusal {
      respond(refusal)
    } else {
      let (bytes, held) = body.take()
      routed?.handle(HTTPRequest(head: head, body: bytes, held: held), self)
    }
  }

  /// MHD is through with the request, one way or the other.
  func complete() {
    answerHeld = nil
    clientGone()
  }

  /// Tells the handler that nobody waits any more.
  func abandon() {
    guard state == .waiting else { return }
    clientGone()
    daemon.resume(connection)
  }

  private func clientGone() {
    stopWatchingClient()
    let isAwaited = state == .handling || state == .waiting
    state = .over
    let action = onClientGone
    onClientGone = nil
    if isAwaited { action?() }
  }

  /// MHD does not look at a suspended connection. Most answers come too soon for this to pay.
  private func watchClient() {
    guard onClientGone != nil, clientWatch == nil else { return }
    // Refused for want of memory, it leaves the client's absence to be found when answering.
    clientWatch = try? daemon.loop.watch(connection.descriptor, for: .peerClosed) { [unowned self] _ in
      abandon()
    }
  }

  private func stopWatchingClient() {
    clientWatch?.cancel()
    clientWatch = nil
  }
}

/// Hands a response to MHD.
/// - Parameter isLast: the connection closes after it.
///
/// SAFETY: MHD copies what it is given, and counts the response's uses itself.
private func queue(_ response: HTTPResponse, on connection: OpaquePointer, isLast: Bool) -> Bool {
  let created = unsafe response.body.withUnsafeBytes {
    unsafe MHD_create_response_from_buffer(
      $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
  }
  guard let created = unsafe created else { return false }
  defer { unsafe MHD_destroy_response(created) }
  // MHD refuses a value with a line break inside, which would begin a header of its own. It stays out.
  for (name, value) in response.headers { unsafe MHD_add_response_header(created, name, value) }
  if isLast { unsafe MHD_add_response_header(created, "Connection", "close") }
  return unsafe MHD_queue_response(connection, UInt32(clamping: response.status), created) == .YES
}
