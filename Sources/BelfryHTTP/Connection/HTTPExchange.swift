import BelfryBytes

/// One request and its answer, which is given once, at once or later, on the loop.
package final class HTTPExchange {
  private enum State {
    case awaited, answered
    /// The client is gone, or the server stopped.
    case over
  }

  package let head: HTTPRequestHead
  private let account: UTF8Text?
  private let connection: HTTPConnection
  private let server: HTTPServer
  private var state = State.awaited

  /// Called when the client disconnects before its answer, so that work for it can end; no answer is needed then. A
  /// client that closes only its sending side counts as gone. Called at once if the client has gone before this is set.
  package var onClientGone: (() -> Void)? {
    didSet {
      guard let action = onClientGone else { return }
      switch state {
      case .awaited: connection.watchForEnd()
      case .answered: break
      case .over:
        onClientGone = nil
        action()
      }
    }
  }

  init(_ head: HTTPRequestHead, account: UTF8Text?, on connection: HTTPConnection, of server: HTTPServer) {
    self.head = head
    self.account = account
    self.connection = connection
    self.server = server
  }

  /// Answers the request. Does nothing if the client has gone.
  package func respond(_ response: HTTPResponse) {
    guard isAwaited() else { return }
    let (response, held) = held(response)
    connection.answer(response, held: held)
  }

  /// Answers with a stream of what the source has, now and later. The source is pulled before the loop waits.
  @discardableResult
  package func stream(
    status: Int = 200, headers: [(name: String, value: String)], source: any HTTPStreamSource
  ) -> HTTPStream? {
    guard isAwaited() else {
      source.finished(.clientGone)
      return nil
    }
    guard server.hasRoomForStream else {
      connection.answer(server.handler.refuse(.tooManyStreams), held: nil)
      source.finished(.refused)
      return nil
    }
    return connection.handOver(status: status, headers: headers, to: source)
  }

  /// Answers with a WebSocket, which goes on until one side closes it.
  /// - Parameter messageBytesMax: the longest message from the client, until
  ///   ``WebSocket/allow(messageBytesMax:)``.
  package func upgrade(
    _ handshake: WebSocketHandshake, messageBytesMax: Int, for owner: any WebSocketOwner
  ) {
    guard isAwaited() else { return owner.finished(.clientGone) }
    guard server.hasRoomForStream else {
      connection.answer(server.handler.refuse(.tooManyStreams), held: nil)
      return owner.finished(.refused)
    }
    let socket = WebSocket(owner, messageBytesMax: messageBytesMax, on: server)
    owner.opened(socket)
    connection.handOver(handshake, to: socket)
  }

  /// True if the exchange still waits for its answer. The answer is given from here on.
  private func isAwaited() -> Bool {
    assert(state != .answered, "an exchange is answered once")
    guard state == .awaited else { return false }
    state = .answered
    onClientGone = nil
    return true
  }

  /// Nobody waits for the answer any more.
  func end() {
    guard state == .awaited else { return }
    state = .over
    let action = onClientGone
    onClientGone = nil
    action?()
  }

  /// Counts an answer until the client has taken it.
  /// - Returns: the answer, or a refusal if there is no room for it. The result of finished work is given in
  ///   any case. An account that holds too many of these has its next requests refused.
  private func held(_ response: HTTPResponse) -> (HTTPResponse, HeldBytes?) {
    guard !response.isShared, response.body.count > HeldBytes.uncountedBytes else { return (response, nil) }
    let held = HeldBytes(of: server.budgets.answers, for: account)
    let isRead = head.method == Self.get
    if let shortage = held.grow(to: response.body.count, isForced: !isRead) {
      return (server.handler.refuse(HTTPRefusal(shortage)), nil)
    }
    return (response, held)
  }

  private static let get: UTF8Text = "GET"
}
