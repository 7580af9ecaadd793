import BelfryBytes
import BelfryHTTP
import BelfryInterface
import BelfryLive
import BelfryLoop
import BelfryModel

/// A client on a WebSocket: its feed, and its requests.
///
/// The feed is a consumer, like that of a stream, and the socket pulls events from it. The requests are
/// handled by the same handlers as HTTP requests, for the same price. Only a few may be open at the same
/// time; until one of them is answered, nothing more is read.
final class SocketSession {
  private enum Phase {
    /// The client has not sent its token yet.
    case waiting
    /// Redis is being asked if the token was revoked.
    case connecting
    case connected(Caller, OpenFeed)
    case ended
  }

  /// The most requests that are open at the same time.
  static let requestsMax = 16
  /// The time between the answer to the handshake and the connect frame.
  static let connectTime: Duration = .seconds(5)
  /// Room for a token and for as many other headers; the cursor is added to it.
  private static let connectBytes = 8 * 1_024

  private let services: LoopServices
  private let address: String
  private var phase = Phase.waiting
  private var socket: WebSocket?
  private var requests = 0
  /// True if the consumer has ended. Requests under way still get their answers.
  private var isEnding = false
  private var timer: LoopTimer?
  private var liveness = SocketLiveness()
  private var pace = FramePace()

  private init(from address: String, _ services: LoopServices) {
    self.address = address
    self.services = services
  }

  /// - Parameters:
  ///   - opening: nil if the client names itself in a frame.
  ///   - caller: the caller who opened the socket.
  static func open(
    _ opening: StreamOpening?, _ caller: Caller?, _ handshake: WebSocketHandshake,
    on exchange: HTTPExchange, from address: String, _ services: LoopServices
  ) throws(Refusal) {
    let session = SocketSession(from: address, services)
    if let opening, let caller {
      try session.begin(opening, by: caller)
    } else {
      guard services.waitingSockets.hasRoom, !services.isDraining else {
        throw Refusal(.unavailable, "too many sockets have not sent their connect frame yet; try again")
      }
      services.waitingSockets.insert(session)
    }
    services.counts.sockets += 1
    let most = connectBytes + FeedCursor.textBytesMost(in: services.store.partitions)
    exchange.upgrade(
      handshake, messageBytesMax: opening == nil ? most : WebSocketFrame.payloadBytesMax, for: session)
  }

  private func begin(_ opening: StreamOpening, by caller: Caller) throws(Refusal) {
    let feed = try OpenFeed(opening, framing: SocketEvents.framing, services)
    phase = .connected(caller, feed)
    feed.consumer.outlet = self
    socket?.account = caller.actor.charged.map { UTF8Text($0.text) }
    socket?.allow(messageBytesMax: WebSocketFrame.payloadBytesMax)
  }

  /// Sends the parameters of the connection, before anything else.
  private func greet(_ id: Int64) {
    var text = JSONText()
    text.field("pingSeconds", services.hub.heartbeatSeconds)
    text.field("retryMilliseconds", Consumer.reconnectDelayMilliseconds())
    socket?.say(SocketReply.text(of: .json(text), to: id))
    socket?.wake()
  }

  /// Ends the socket because the broker is shutting down.
  func sendAway() { socket?.close(.draining) }
}

// MARK: - What the client says

extension SocketSession: WebSocketOwner {
  func opened(_ socket: WebSocket) {
    self.socket = socket
    switch phase {
    case .connected(let caller, _):
      socket.account = caller.actor.charged.map { UTF8Text($0.text) }
      services.counts.count(status: 101)
      greet(Self.greetingID)
    case .waiting, .connecting, .ended:
      services.counts.count(status: 101)
      timer = services.loop.schedule(after: Self.connectTime) { [weak self] in
        self?.socket?.close(.noConnect)
      }
    }
  }

  /// The id of the greeting for a caller who was known before the first frame, so that no frame has asked for
  /// it.
  private static let greetingID: Int64 = 0

  var takesMessages: Bool {
    switch phase {
    case .waiting: true
    case .connecting: false
    case .connected: requests < Self.requestsMax && !isEnding
    case .ended: false
    }
  }

  func received(_ text: [UInt8], held: HeldBytes?) {
    liveness.hearMessage()
    do throws(SocketMessage.Flaw) {
      switch (try SocketMessage(text), phase) {
      case (.alive, _): received(lightFrames: 1)
      case (.connect(let id, let body), .waiting): connect(Array(text[body]), id)
      case (.connect, _):
        throw SocketMessage.Flaw(reason: "connected already")
      case (.request(let request, let id, let body), .connected(let caller, _)):
        handle(request, id, Array(text[body]), held, by: caller)
      case (.request, _): socket?.close(.notConnected)
      }
    } catch {
      socket?.close(WebSocketClose(WebSocketClose.badFrame, error.reason))
    }
  }

  func received(lightFrames count: Int) {
    if !pace.take(count, now: services.loop.now) { socket?.close(.tooManyFrames) }
  }

  private func handle(
    _ request: SocketRequest, _ id: Int64, _ body: [UInt8], _ held: HeldBytes?, by caller: Caller
  ) {
    requests += 1
    let reply = SocketReply(id, of: self)
    do throws(Refusal) {
      guard caller.rest() > .zero else { throw Refusal(.unauthorized, "the token has expired") }
      guard let handler = Sockets.handlersOfFrames[request] else {
        throw Refusal(.unavailable, "there is no operation with this name")
      }
      let routed = try RoutedRequest(handler, by: caller, services) { [self] in keep($0) }
      let parts = RequestParts(body: body, preset: request.preset)
      routed.handle(GivenRequest(parts: parts, held: held, address: address), for: reply)
    } catch {
      reply.respond(services.counted(HTTPResponse(error)))
    }
  }

  /// Keeps the result of a revocation check, so that Redis need not be asked again for the next request.
  private func keep(_ caller: Caller) {
    if case .connected(_, let feed) = phase { phase = .connected(caller, feed) }
  }

  func answer(_ text: [UInt8]) {
    requests -= 1
    socket?.say(text)
    socket?.takeMore()
  }
}

// MARK: - Connecting

extension SocketSession {
  private func connect(_ body: [UInt8], _ id: Int64) {
    do throws(Refusal) {
      let asked = try SocketRoutes.connect(of: body)
      let route = SocketRoutes.socket.route
      let caller = try Caller(
        token: UTF8Text(asked.token), account: asked.account?.text, device: asked.device?.text, for: route,
        services)
      try services.take(route.price, of: caller)
      if services.isCleared(caller) { return try connect(asked, by: caller, id) }
      phase = .connecting
      let hasStarted = services.scope.start { [self] in
        do throws(Refusal) {
          let caller = try await services.cleared(caller)
          // The client may have left in the meantime.
          guard case .connecting = phase else { return }
          try connect(asked, by: caller, id)
          socket?.takeMore()
        } catch {
          refuse(error, id)
        }
      }
      if !hasStarted { throw Refusal(.unavailable, "this broker is shutting down") }
    } catch {
      refuse(error, id)
    }
  }

  private func connect(_ asked: SocketRoutes.Connect, by caller: Caller, _ id: Int64) throws(Refusal) {
    if socket?.isClosing ?? true { return }
    let opening = try StreamOpening(
      by: caller, from: address, after: asked.after, wantsCounts: asked.wantsCounts)
    try begin(opening, by: caller)
    stopWaiting()
    greet(id)
  }

  private func refuse(_ refusal: Refusal, _ id: Int64) {
    let refusal = SocketRoutes.inWordsOfConnect(refusal)
    let response = services.counted(HTTPResponse(refusal))
    socket?.say(SocketReply.text(of: response, to: id))
    socket?.close(WebSocketClose(refusal))
  }

  private func stopWaiting() {
    timer?.cancel()
    timer = nil
    services.waitingSockets.remove(self)
  }
}

// MARK: - What the client is sent

extension SocketSession: Consumer.Outlet {
  func consumerIsReady() { socket?.wake() }

  /// Asks the client if it is there, and ends the socket if the client has been silent since the last
  /// question.
  func consumerBeats() {
    guard let socket, !socket.isClosing else { return }
    let seen = SocketLiveness.Seen(
      isHeard: socket.hasHeard(), isPaused: socket.isBlocked || !takesMessages,
      isOnItsWay: socket.hasUnacknowledged, isWithinMessage: socket.isWithinMessage)
    switch liveness.beat(seen) {
    case .ask: socket.say(Self.ping)
    case .wait: break
    case .silent: socket.close(.silent)
    }
  }

  private static let ping = Array("{}".utf8)

  func pull(into buffer: UnsafeMutableRawBufferPointer) -> WebSocketPull {
    guard case .connected(_, let feed) = phase else { return .wait }
    // SAFETY: the buffer belongs to the caller for the length of this call, and is not kept after it.
    var room = unsafe StreamBuffer(buffer)
    return switch feed.consumer.pull(into: &room) {
    case .bytes(let count, let more): .bytes(count, more: more, isWhole: !feed.consumer.isWithinEvent)
    case .wait: .wait
    case .end: end(feed)
    }
  }

  /// Ends the feed once all requests have their answers. Each answer pulls again, until the last one.
  private func end(_ feed: OpenFeed) -> WebSocketPull {
    isEnding = true
    guard requests == 0 else { return .wait }
    return .end(feed.consumer.kickReason.map { WebSocketClose($0) } ?? .draining)
  }

  func finished(_ end: HTTPStreamEnd) {
    stopWaiting()
    services.counts.sockets -= 1
    if case .connected(_, let feed) = phase { feed.close() }
    phase = .ended
    socket = nil
  }
}
