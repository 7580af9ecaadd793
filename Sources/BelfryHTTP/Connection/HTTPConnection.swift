import BelfryBytes
import BelfryLoop
import BelfrySystem
import BelfryTransport

/// One connection and its requests, one after the other, on the server's loop.
///
/// The phase decides the work: the connection reads while it receives, and neither reads nor writes while a
/// request is handled. Nothing is allocated for a connection that waits for its next request.
final class HTTPConnection {
  enum Phase {
    /// A request is arriving, or is expected on a new connection.
    case receiving
    /// The handler has the request; there is no deadline.
    case handling
    case answering
    /// Between two requests.
    case idle
    /// The last answer was given. Bytes that still arrive are thrown away until the client closes. If the
    /// connection were closed with unread bytes, the kernel would discard the answer.
    case lingering
    case closed
  }

  private unowned let server: HTTPServer
  private let transport: any ByteTransport
  private let client: ClientAddress
  private var watch: Watch?
  private(set) var phase = Phase.receiving
  private var deadline: ContinuousClock.Instant?

  private var intake: RequestIntake
  /// The bytes that have arrived and were not consumed.
  private var input: [UInt8] = []
  /// The time at which the present request began to arrive, and the number of its bytes so far.
  private var began: ContinuousClock.Instant
  private var receivedBytes = 0
  private var isAdvancing = false
  /// More has arrived than was worked on in this turn of the loop.
  private var isUnfinished = false
  /// The client sends no more.
  private var hasClientEnded = false

  private var request: RequestHead?
  private var lastTarget: (text: UTF8Text, target: RequestTarget?)?
  private var routed: (head: HTTPRequestHead, request: any HTTPRoutedRequest)?
  private var exchange: HTTPExchange?
  private var output = AnswerOutput()
  private var isLastAnswer = false
  private var hasAnswered = false
  private var lingeredBytes = 0

  /// Its index in the server's table.
  var position = 0

  init(_ transport: any ByteTransport, from client: ClientAddress, of server: HTTPServer) throws(SystemError)
  {
    self.server = server
    self.transport = transport
    self.client = client
    intake = server.makeIntake()
    began = server.loop.now
    deadline = began + server.limits.requestTime
    watch = try server.loop.watch(transport.descriptor, for: Self.whileReceiving) { [unowned self] in
      handle($0)
    }
  }

  private static let whileReceiving: Readiness = [.readable, .peerClosed]

  var hasRequest: Bool {
    switch phase {
    case .receiving: intake.hasBegun
    case .handling, .answering: true
    case .idle, .lingering, .closed: false
    }
  }

  /// Its place among the connections that make room for others; nil while it has a request.
  var shedPlace: ShedOrder.Place? {
    guard let deadline else { return nil }
    return switch phase {
    case .lingering: ShedOrder.Place(.answered, deadline)
    case .receiving: isSilent ? ShedOrder.Place(.silent, deadline) : nil
    case .idle: ShedOrder.Place(.idle, deadline)
    case .handling, .answering, .closed: nil
    }
  }

  /// True if no byte has ever come from the client.
  private var isSilent: Bool { receivedBytes == 0 && !hasAnswered }

  // MARK: Events

  private func handle(_ readiness: Readiness) {
    guard readiness.isDisjoint(with: [.hangup, .error]) else { return close() }
    switch phase {
    // Nothing more is read meanwhile. Otherwise a client that sends without waiting would fill the memory.
    case .receiving where isUnfinished: listen(for: [])
    case .receiving, .idle: receive()
    case .lingering: discard()
    case .handling: handleEarly(readiness)
    case .answering:
      // A client that sends before it has its answer waits.
      if readiness.contains(.writable) { write() } else { listen(for: .writable) }
    case .closed: break
    }
  }

  /// Something came while the request is handled.
  private func handleEarly(_ readiness: Readiness) {
    guard readiness.contains(.peerClosed) else { return listen(for: .peerClosed) }
    hasClientEnded = true
    // Without events of that kind, or the loop would be told in each of its turns.
    if exchange?.onClientGone == nil { listen(for: []) } else { close() }
  }

  /// The handler wants to know when the client leaves.
  func watchForEnd() {
    if hasClientEnded, phase == .handling { listen(for: .peerClosed) }
  }

  /// Ends what is past its deadline.
  func checkDeadline(at now: ContinuousClock.Instant) {
    guard let deadline, deadline <= now else { return }
    // A client that has said nothing waits for no answer, and would keep its place while it is told one.
    guard phase == .receiving, !isSilent else { return close() }
    answer(server.handler.refuse(.timeout), held: nil, isLast: true)
  }

  /// Ends the connection at once. A request that is handled has lost its client.
  func close() {
    guard phase != .closed else { return }
    leave()
    transport.close()
  }

  private func leave() {
    phase = .closed
    deadline = nil
    watch?.cancel()
    watch = nil
    // Somebody may still hold the exchange, but it must not hold anything else.
    (input, output, request, routed, lastTarget) = ([], AnswerOutput(), nil, nil, nil)
    let exchange = exchange
    self.exchange = nil
    server.remove(self)
    exchange?.end()
  }

  private func listen(for readiness: Readiness) {
    do throws(SystemError) {
      try watch?.update(readiness)
    } catch {
      // Without events of its socket the connection would hang for ever.
      close()
    }
  }
}

// MARK: - Receiving

extension HTTPConnection {
  private func receive() {
    let most = intake.isInBody ? HTTPLimits.readBytes : HTTPLimits.readAheadBytes
    switch server.readBuffer.read(from: transport, to: &input, most: most) {
    case .bytes(let count):
      if phase == .idle { beginRequest() }
      receivedBytes += count
      deadline = began + server.limits.requestTime + HTTPLimits.time(forBytes: receivedBytes)
      advance()
    case .wait: break
    case .end, .lost: close()
    }
  }

  private func beginRequest() {
    phase = .receiving
    began = server.loop.now
    receivedBytes = input.count
    deadline = began + server.limits.requestTime
  }

  /// Takes in what has arrived, as far as it goes.
  func advance() {
    // The handler may answer while it is called from here.
    guard !isAdvancing else { return }
    isAdvancing = true
    defer { isAdvancing = false }
    var consumed = 0
    var requestsLeft = HTTPLimits.requestsPerTurn
    loop: while phase == .receiving {
      let (action, bytes) = intake.next(input[consumed...])
      consumed += bytes
      switch action {
      case .wait: break loop
      case .route(let head): route(head, isBodyThere: consumed < input.count)
      case .handle(let body, let held):
        keepOnly(behind: &consumed)
        handle(body, held)
      case .answer(let refusal, let isLast): refuse(refusal, isLast: isLast)
      }
      // Other connections have their turn before a client that sends without waiting is served again.
      if case .route = action { requestsLeft -= 1 }
      if requestsLeft == 0, phase == .receiving {
        isUnfinished = true
        server.advanceLater(self)
        break loop
      }
    }
    drop(consumed)
  }

  /// If the connection may become a WebSocket, the bytes after the request are kept for it.
  private func keepOnly(behind consumed: inout Int) {
    // Most requests arrive whole, and leave nothing behind.
    if consumed == input.count {
      input = []
    } else if request?.headers.contains("Upgrade") == true {
      input.removeFirst(consumed)
    } else {
      return
    }
    consumed = 0
  }

  /// Goes on in a later turn of the loop.
  func resume() {
    isUnfinished = false
    advance()
    if phase == .receiving, !isUnfinished { listen(for: Self.whileReceiving) }
  }

  private func drop(_ consumed: Int) {
    switch phase {
    case .closed, .lingering: input = []
    case .receiving, .handling, .answering, .idle:
      if consumed == input.count { input = [] } else if consumed > 0 { input.removeFirst(consumed) }
    }
    if phase == .receiving, hasAnswered, input.isEmpty, !intake.hasBegun {
      phase = .idle
      deadline = server.loop.now + server.limits.keepAliveTime
    }
  }

  private func route(_ request: RequestHead, isBodyThere: Bool) {
    self.request = request
    let target = target(of: request)
    let head = HTTPRequestHead(request, target: target, client: client)
    switch server.route(head, hasTarget: target != nil) {
    case .refused(let response):
      guard case .answer(let refusal, let isLast)? = intake.refuse(request, .byHandler(response)) else {
        return
      }
      refuse(refusal, isLast: isLast)
    case .routed(let routed):
      self.routed = (head, routed)
      var held: HeldBytes?
      // It is not allocated if there is no body, or a body too small to be counted.
      if request.contentLength.map({ $0 > HeldBytes.uncountedBytes }) ?? true {
        held = HeldBytes(of: server.budgets.bodies, for: routed.account)
      }
      intake.accept(request, bodyMaxBytes: routed.bodyMaxBytes, held: held)
      if request.isContinueExpected, request.contentLength != 0, !isBodyThere {
        sayContinue()
      }
    }
  }

  /// Clients usually send the same target again. A comparison costs less than parsing the target.
  private func target(of request: RequestHead) -> RequestTarget? {
    if let lastTarget, lastTarget.text == request.target { return lastTarget.target }
    let target = RequestTarget(request.target.string)
    lastTarget = request.target.count <= HTTPLimits.keptTargetBytes ? (request.target, target) : nil
    return target
  }

  /// If the kernel has no room for so few bytes, the client has not read earlier answers, nor would it read this.
  private func sayContinue() {
    // SAFETY: the transport has taken what it takes when it returns.
    switch unsafe Self.continueLine.withUnsafeBytes({ unsafe transport.write($0) }) {
    case .bytes(Self.continueLine.count): break
    case .bytes, .wait, .end, .lost: close()
    }
  }

  private static let continueLine = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

  private func handle(_ body: [UInt8], _ held: HeldBytes?) {
    guard let (head, routed) = routed else { return close() }
    self.routed = nil
    phase = .handling
    deadline = nil
    let exchange = HTTPExchange(head, account: routed.account, on: self, of: server)
    self.exchange = exchange
    routed.handle(HTTPRequest(head: head, body: body, held: held), exchange)
  }

  private func refuse(_ refusal: IntakeRefusal, isLast: Bool) {
    switch refusal {
    case .byHandler(let response): answer(response, held: nil, isLast: isLast)
    case .byProtocol(let refusal): answer(server.handler.refuse(refusal), held: nil, isLast: isLast)
    }
  }
}

// MARK: - Answering

extension HTTPConnection {
  /// - Parameters:
  ///   - held: counts the answer until the client has taken it.
  ///   - isLast: the connection ends with it, also if the client would go on.
  func answer(_ response: HTTPResponse, held: HeldBytes?, isLast: Bool = false) {
    guard phase != .closed else { return }
    exchange = nil
    routed = nil
    isLastAnswer = isLast || request?.isLast ?? true || server.isQuiesced
    var response = response
    let headers = request?.headers ?? intake.headersOfRefused
    let fields = headers.map { server.handler.fieldsOfAnswer(to: $0) } ?? []
    if !fields.isEmpty { response.headers += fields }
    output = AnswerOutput(
      response, isLast: isLastAnswer, hasBody: request?.method != Self.head, date: server.date.text, held)
    request = nil
    phase = .answering
    began = server.loop.now
    write()
  }

  private static let head: UTF8Text = "HEAD"

  private func write() {
    switch output.write(to: transport) {
    case .lost: close()
    case .wait:
      deadline = began + server.limits.responseTime + HTTPLimits.time(forBytes: output.takenBytes)
      listen(for: .writable)
    case .written: finishAnswer()
    }
  }

  private func finishAnswer() {
    output = AnswerOutput()
    hasAnswered = true
    if isLastAnswer || server.isQuiesced { return linger() }
    beginRequest()
    listen(for: Self.whileReceiving)
    advance()
  }

  private func linger() {
    phase = .lingering
    deadline = server.loop.now + server.limits.requestTime
    transport.finishWriting()
    listen(for: Self.whileReceiving)
  }

  private func discard() {
    input = []
    switch server.readBuffer.read(from: transport, to: &input, most: HTTPLimits.readBytes) {
    case .bytes(let count):
      lingeredBytes += count
      if lingeredBytes > server.limits.drainBytes { close() }
      input = []
    case .wait: break
    case .end, .lost: close()
    }
  }

  /// Gives the connection to a stream, for as long as it lasts.
  func handOver(
    status: Int, headers: [(name: String, value: String)], to source: any HTTPStreamSource
  ) -> HTTPStream? {
    guard phase == .handling, let request else {
      source.finished(.clientGone)
      return nil
    }
    exchange = nil
    leave()
    let isChunked = !request.isHTTP10
    let head = ResponseHead.render(
      status: status, headers: headers + server.handler.fieldsOfAnswer(to: request.headers),
      framing: isChunked ? .chunked : .untilClose, isLast: true, date: server.date.text)
    return server.openStream(
      on: transport, head: head, isChunked: isChunked, hasBody: request.method != Self.head, source: source)
  }

  /// Gives the connection to a WebSocket, with what has arrived for that.
  func handOver(_ handshake: WebSocketHandshake, to socket: WebSocket) {
    guard phase == .handling else { return socket.finished(.clientGone) }
    let rest = input
    exchange = nil
    leave()
    let head = ResponseHead.render(
      status: 101, headers: handshake.headers, framing: .untilClose, isLast: false, date: server.date.text)
    let stream = server.openStream(
      on: transport, head: head, isChunked: false, hasBody: true, source: socket, receiver: socket)
    socket.opened(on: stream, rest)
  }
}
