import Foundation
import FoundationNetworking

// From a request to its decoded answer: identity, tries, refusals.

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
      throw BelfryError(.protocol, "the answer is not what was asked for: \(error)")
    }
  }

  static func encode(_ value: some Encodable) throws(BelfryError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try encoder.encode(value)
    } catch {
      // A number that JSON cannot say (infinity, not-a-number) is the only way to get here.
      throw BelfryError(.invalidField, "cannot be written as JSON: \(error)")
    }
  }

  /// The body of a 2xx answer.
  @discardableResult
  func answer(_ request: HTTPRequest) async throws(BelfryError) -> Data {
    var failures = 0
    while true {
      do {
        return try await attempt(request)
      } catch {
        failures += 1
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
    let transport = request.holdSeconds > 0 ? try await quietTransport() : requests
    let exchange = transport.open(
      try await identified(request), silenceSeconds: timing.answerSeconds + request.holdSeconds,
      limitBytes: ClientLimits.answerBytes)
    let head = try await head(of: exchange)
    let body = try await rest(of: exchange)
    guard (200...299).contains(head.status) else { throw BelfryError(head, body: body) }
    return body
  }

  /// The stream of an account's feed, from after the cursor.
  func openStream(after cursor: String?) async throws(BelfryError) -> HTTPExchange {
    var request = HTTPRequest(.get, "/v1/notifications/stream")
    // Compression would make a proxy hold events back until it has a block of them.
    request.headers = ["Accept": "text/event-stream", "Accept-Encoding": "identity"]
    if let cursor {
      guard cursor.isHeaderValue else {
        throw BelfryError(.invalidField, "the cursor is not one that Belfry gave", field: "after")
      }
      request.headers["Last-Event-ID"] = cursor
    }
    let exchange = try await quietTransport().open(
      try await identified(request), silenceSeconds: timing.streamSilenceSeconds,
      limitBytes: ClientLimits.streamAheadBytes)
    let head = try await head(of: exchange)
    guard head.status == 200 else { throw BelfryError(head, body: try await rest(of: exchange)) }
    guard head.mediaType == "text/event-stream" else {
      throw BelfryError(
        .protocol, "\(baseURL.absoluteString) answered with \(head.mediaType), not a stream", status: 200)
    }
    return exchange
  }

  /// A transport with one connection that is made already, for what stays silent for long.
  ///
  /// On Linux, URLSession goes on watching for the moment a socket can be written to, which it must while
  /// it connects, for as long as the connection's first request takes. An idle socket can always be
  /// written to, so a quiet stream would keep half a processor busy. A second request on the same
  /// connection begins without that watch; so the first one is a trifle. (Seen in Swift 6.3:
  /// FoundationNetworking creates the write source of a socket and never drops it before the end.)
  private func quietTransport() async throws(BelfryError) -> HTTPTransport {
    let transport = HTTPTransport(connectionsLimit: 1)
    // What is answered does not matter, only that it is.
    let exchange = transport.open(
      try bare(HTTPRequest(.get, "/healthz")), silenceSeconds: timing.answerSeconds,
      limitBytes: ClientLimits.answerBytes)
    _ = try await head(of: exchange)
    _ = try await rest(of: exchange)
    return transport
  }

  // MARK: One exchange

  /// The request without who is asking.
  private func bare(_ request: HTTPRequest) throws(BelfryError) -> URLRequest {
    guard let url = request.url(below: baseURL) else {
      throw BelfryError(.protocol, "\(baseURL.absoluteString) is not an http or https URL")
    }
    var result = URLRequest(url: url)
    result.httpMethod = request.method.rawValue
    result.httpBody = request.body
    if request.body != nil { result.setValue("application/json", forHTTPHeaderField: "Content-Type") }
    for (name, value) in request.headers { result.setValue(value, forHTTPHeaderField: name) }
    return result
  }

  private func identified(_ request: HTTPRequest) async throws(BelfryError) -> URLRequest {
    var result = try bare(request)
    result.setValue("Bearer \(try await checkedToken())", forHTTPHeaderField: "Authorization")
    if let account { result.setValue(account.text, forHTTPHeaderField: "Belfry-Account") }
    if let device { result.setValue(device.text, forHTTPHeaderField: "Belfry-Device") }
    return result
  }

  private func checkedToken() async throws(BelfryError) -> String {
    let text: String
    do {
      text = try await token()
    } catch is CancellationError {
      throw .taskCancelled
    } catch let error as BelfryError {
      throw error
    } catch {
      throw BelfryError(.transport, "there is no token to be had: \(error)")
    }
    guard text.isHeaderValue, text.utf8.count <= ClientLimits.tokenBytes else {
      throw BelfryError(
        .unauthorized, "the token is empty, too long, or holds a character that no token contains")
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
      guard body.count <= ClientLimits.answerBytes else { throw error(.tooFarAhead) }
    }
  }

  func error(_ failure: ExchangeFailure?) -> BelfryError {
    switch failure {
    case nil: BelfryError(.transport, "\(baseURL.absoluteString) hung up without an answer")
    case .cancelled: .taskCancelled
    case .tooFarAhead:
      BelfryError(.protocol, "the answer is longer than \(ClientLimits.answerBytes) bytes")
    case .lost(let words): BelfryError(.transport, "\(baseURL.absoluteString): \(words)")
    }
  }
}

extension BelfryError {
  static var taskCancelled: BelfryError { BelfryError(.cancelled, "the task was cancelled") }
}
