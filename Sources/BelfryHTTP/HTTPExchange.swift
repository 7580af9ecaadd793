import BelfryBytes
import BelfryLoop
import CMicroHTTPD
import Glibc

/// One request and its answer, which is given once, at once or later, on the loop.
package final class HTTPExchange {
  enum State {
    case receiving
    /// The refusal was sent. The body is read and thrown away, so that the client gets to see the refusal.
    case refused
    /// Inside the handler's call, and so inside MHD's callback.
    case handling
    /// The connection is suspended until there is an answer.
    case waiting
    case answered
    /// A stream has the socket; MHD is to let go of the connection.
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
  /// Counts the answer; given back when MHD has finished with the request.
  private var answerHeld: HeldBytes?
  private let head: HTTPRequestHead
  private let isHTTP11: Bool
  /// Nil if the request was refused before its body.
  private let routed: (any HTTPRoutedRequest)?
  private var clientWatch: Watch?

  /// Called when the client disconnects before its answer, so that work for it can end; no answer is needed then. A
  /// client that closes only its sending side counts as gone.
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
      // Not allocated where there is no body, or one too small to be counted.
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

  /// Answers the request. Does nothing if the client has gone.
  package func respond(_ response: HTTPResponse) { respond(response, isLast: false) }

  /// - Parameter isLast: whether the connection closes after it.
  private func respond(_ response: HTTPResponse, isLast: Bool) {
    guard state == .handling || state == .waiting else { return checkAnsweredOnce() }
    let isSuspended = state == .waiting
    stopWatchingClient()
    let isLast = isLast || daemon.isQuiesced
    let isQueued = unsafe queue(held(response), on: connection.handle, isLast: isLast)
    state = isQueued ? .answered : .over
    daemon.responding(connection, isSuspended: isSuspended)
  }

  /// Counts an answer until the client has taken it.
  /// - Returns: the answer, or a refusal if there is no room for it. The result of what was carried out is given in any
  ///   case; an account that holds too much of these has its next requests refused.
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

  /// Answers with a stream of what the source has, now and later. The source is pulled before the loop waits.
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
      // MHD takes no answer while a body arrives: it is written to the socket directly.
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

  /// Writes the answer to the socket at once and reads on: a client whose connection is closed while it sends seldom
  /// sees the answer.
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

  /// MHD has finished with the request, whatever became of it.
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

  /// Watches for the client to disconnect, which MHD does not notice of a suspended connection. Only for answers that
  /// take long.
  private func watchClient() {
    guard onClientGone != nil, clientWatch == nil else { return }
    // If it fails for want of memory, the client's absence is noticed when it is answered.
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
  // MHD refuses a value with a line break, which would begin another header: that header is left out.
  // Passed as they are, the texts would be copied to arrays.
  for (name, value) in response.headers {
    _ = unsafe name.withCString { name in
      unsafe value.withCString { unsafe MHD_add_response_header(created, name, $0) }
    }
  }
  if isLast { unsafe MHD_add_response_header(created, "Connection", "close") }
  return unsafe MHD_queue_response(connection, UInt32(clamping: response.status), created) == .YES
}
