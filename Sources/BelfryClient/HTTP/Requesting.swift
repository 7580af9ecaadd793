import BelfryBytes
import BelfryInterface
import Foundation

// From a request to its decoded answer: the headers that say who asks, the tries, and the refusals.

extension BelfryClient {
  func value<Answer: Decodable>(_ type: Answer.Type, _ request: HTTPRequest) async throws(BelfryError)
    -> Answer
  {
    try Self.decode(type, try await answer(request))
  }

  static func decode<Answer: Decodable>(_ type: Answer.Type, _ body: Data) throws(BelfryError) -> Answer {
    do {
      return try JSONDecoder().decode(type, from: body)
    } catch {
      throw BelfryError(.protocol, "the answer cannot be read as \(type): \(error)")
    }
  }

  static func encode(_ value: some Encodable) throws(BelfryError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try encoder.encode(value)
    } catch {
      // Only a number that JSON does not have, infinity or not-a-number, leads here.
      throw BelfryError(.invalidField, "a value cannot be written as JSON: \(error)")
    }
  }

  /// Performs a request, with further tries if it may be repeated.
  /// - Returns: the body of a 2xx answer.
  @discardableResult
  func answer(_ request: HTTPRequest) async throws(BelfryError) -> Data {
    var failures = 0
    var open: BelfryError?
    while true {
      do {
        return try await attempt(request)
      } catch let last {
        failures += 1
        let error = open.map(last.after) ?? last
        if request.changesSomething, last.leavesOutcomeOpen { open = last }
        let floor = error.retryAfterSeconds ?? 0
        guard request.isRepeatable, error.mayPass, failures < attemptsLimit,
          floor <= ClientLimits.requestRetryAfterSeconds
        else { throw error }
        let pause = timing.backoff.pause(
          failures: failures, floor: .seconds(floor), random: .random(in: 0..<1))
        do { try await Task.sleep(for: pause) } catch { throw .taskCancelled }
      }
    }
  }

  private func attempt(_ request: HTTPRequest) async throws(BelfryError) -> Data {
    let exchange = try await open(
      request, over: request.holdSeconds > 0 ? streams : requests,
      silenceSeconds: timing.answerSeconds + request.holdSeconds)
    let head = try await head(of: exchange)
    let body = try await rest(of: exchange)
    guard (200...299).contains(head.status) else { throw BelfryError(head, body: body) }
    return body
  }

  /// Opens the stream of an account's feed, behind the cursor.
  func openStream(after cursor: String?, withCounts: Bool) async throws(BelfryError) -> HTTPExchange {
    var request = HTTPRequest(NotificationRoutes.stream.route)
    request.ask("counts", withCounts ? "1" : nil)
    // Compression would make a proxy hold events back until it has a block of them.
    request.headers = ["Accept": "text/event-stream", "Accept-Encoding": "identity"]
    if let cursor {
      guard cursor.isHeaderValue else {
        throw BelfryError(
          .invalidField, "the cursor is not one that Belfry gave; start without a cursor", field: "after")
      }
      request.headers["Last-Event-ID"] = cursor
    }
    let exchange = try await open(request, over: streams, silenceSeconds: timing.streamSilenceSeconds)
    let head = try await head(of: exchange)
    guard head.status == 200 else { throw BelfryError(head, body: try await rest(of: exchange)) }
    guard head.mediaType == "text/event-stream" else {
      throw BelfryError(
        .protocol, "\(baseURL.absoluteString) answered with \"\(head.mediaType)\" instead of a stream",
        status: 200)
    }
    return exchange
  }

  /// Opens the same feed over a WebSocket. Headers say who asks, as for any request.
  func openSocket(after cursor: String?, withCounts: Bool) async throws(BelfryError) -> HTTPExchange {
    var request = HTTPRequest(SocketRoutes.socket.route)
    request.isUpgrade = true
    request.ask("after", cursor)
    request.ask("counts", withCounts ? "1" : nil)
    let key = Base64.encode((0..<16).map { _ in UInt8.random(in: 0 ... .max) })
    request.headers = [
      "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": key,
      "Sec-WebSocket-Protocol": "\(SocketRoutes.subprotocol)",
    ]
    let exchange = try await open(request, over: streams, silenceSeconds: timing.streamSilenceSeconds)
    let head = try await head(of: exchange)
    guard head.status == 101 else {
      guard head.status >= 300 else {
        throw BelfryError(
          .protocol, "\(baseURL.absoluteString) answered with HTTP \(head.status) instead of a WebSocket")
      }
      throw BelfryError(head, body: try await rest(of: exchange))
    }
    let accepted = Base64.encode(Hashing.sha1(Array((key + Self.socketMagic).utf8)))
    guard head.headers["sec-websocket-accept"] == accepted else {
      throw BelfryError(
        .protocol, "\(baseURL.absoluteString) answered with a wrong Sec-WebSocket-Accept")
    }
    return exchange
  }

  /// Source: RFC 6455 section 1.3.
  private static let socketMagic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  // MARK: One exchange

  /// Sends a request, with the headers that say who asks.
  private func open(
    _ request: HTTPRequest, over transport: HTTPTransport, silenceSeconds: Double
  ) async throws(BelfryError) -> HTTPExchange {
    guard let url = request.url(below: baseURL) else {
      throw BelfryError(.protocol, "\(baseURL.absoluteString) is not an http or https URL")
    }
    var request = request
    if request.body != nil, request.headers["Content-Type"] == nil {
      request.headers["Content-Type"] = "application/json"
    }
    request.headers["Authorization"] = "Bearer \(try await checkedToken())"
    request.headers[RequestHeader.account] = account?.text
    request.headers[RequestHeader.device] = device?.text
    return transport.open(request, at: url, silenceSeconds: silenceSeconds)
  }

  private func checkedToken() async throws(BelfryError) -> String {
    let text: String
    do {
      text = try await token()
    } catch is CancellationError where Task.isCancelled {
      throw .taskCancelled
    } catch let error as BelfryError {
      throw error
    } catch {
      // Also if the closure waited for a task of its own that somebody has cancelled.
      throw .unsent("the client's token closure failed: \(error)")
    }
    guard text.isHeaderValue, text.utf8.count <= ClientLimits.tokenBytes else {
      throw BelfryError(
        .unauthorized,
        "the token is empty, longer than \(ClientLimits.tokenBytes) bytes, or has a character that tokens cannot have"
      )
    }
    return text
  }

  private func head(of exchange: HTTPExchange) async throws(BelfryError) -> HTTPHead {
    switch await exchange.next() {
    case .head(let head): return head
    case .end(let failure): throw error(failure)
    case .body: throw error(nil)
    }
  }

  private func rest(of exchange: HTTPExchange) async throws(BelfryError) -> Data {
    var body = Data()
    while true {
      switch await exchange.next() {
      case .body(let data): body += data
      case .end(nil): return body
      case .end(let failure): throw error(failure)
      case .head: continue
      }
      guard body.count <= ClientLimits.answerBytes else {
        throw BelfryError(.protocol, "the answer is longer than \(ClientLimits.answerBytes) bytes")
      }
    }
  }

  func error(_ failure: ExchangeFailure?) -> BelfryError {
    switch failure {
    case nil: BelfryError(.transport, "\(baseURL.absoluteString) closed the connection without an answer")
    case .cancelled: .taskCancelled
    case .lost(let words): BelfryError(.transport, "\(baseURL.absoluteString): \(words)")
    case .unsent(let words): .unsent("\(baseURL.absoluteString): \(words)")
    }
  }
}

extension BelfryError {
  static var taskCancelled: BelfryError { BelfryError(.cancelled, "the task was cancelled") }

  static func unsent(_ detail: String) -> BelfryError {
    var error = BelfryError(.transport, detail)
    error.nothingWasSent = true
    return error
  }
}
