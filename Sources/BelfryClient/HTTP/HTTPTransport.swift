import Foundation
import FoundationNetworking
import Synchronization

/// A URLSession and what it delivers. The session goes when the transport does, that is with the last
/// client and the last open exchange that hold it; URLSession itself would stay until told to go.
final class HTTPTransport: Sendable {
  private let session: URLSession
  private let router: ExchangeRouter

  init(connectionsLimit: Int) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = connectionsLimit
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.urlCredentialStorage = nil
    router = ExchangeRouter()
    session = URLSession(configuration: configuration, delegate: router, delegateQueue: nil)
  }

  deinit { session.invalidateAndCancel() }

  /// - Parameter silenceSeconds: ends the exchange when nothing arrives for so long.
  func open(_ request: URLRequest, silenceSeconds: Double, limitBytes: Int) -> HTTPExchange {
    var request = request
    request.timeoutInterval = silenceSeconds
    let task = session.dataTask(with: request)
    let inbox = ExchangeInbox(limitBytes: limitBytes)
    router.route(task.taskIdentifier, to: inbox)
    task.resume()
    return HTTPExchange(transport: self, task: task, inbox: inbox)
  }
}

/// One request on its way, and its answer as it arrives. Letting go of it cancels it.
final class HTTPExchange: Sendable {
  private let transport: HTTPTransport
  private let task: URLSessionDataTask
  private let inbox: ExchangeInbox

  fileprivate init(transport: HTTPTransport, task: URLSessionDataTask, inbox: ExchangeInbox) {
    self.transport = transport
    self.task = task
    self.inbox = inbox
  }

  deinit { task.cancel() }

  func next() async -> ExchangePart { await inbox.take() }
}

/// Hands what the session delivers to the exchange it belongs to.
private final class ExchangeRouter: NSObject, URLSessionDataDelegate, Sendable {
  private let inboxes = Mutex<[Int: ExchangeInbox]>([:])

  func route(_ identifier: Int, to inbox: ExchangeInbox) {
    inboxes.withLock { $0[identifier] = inbox }
  }

  private func inbox(of task: URLSessionTask) -> ExchangeInbox? {
    inboxes.withLock { $0[task.taskIdentifier] }
  }

  private func finish(_ task: URLSessionTask, _ failure: ExchangeFailure?) {
    inboxes.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.put(.end(failure))
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    guard let response = response as? HTTPURLResponse else { return completionHandler(.cancel) }
    var headers: [String: String] = [:]
    for (name, value) in response.allHeaderFields {
      headers["\(name)".lowercased()] = "\(value)"
    }
    inbox(of: dataTask)?.put(.head(HTTPHead(status: response.statusCode, headers: headers)))
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    if inbox(of: dataTask)?.put(.body(data)) != true { dataTask.cancel() }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    finish(task, error.map(ExchangeFailure.init))
  }

  /// Belfry never redirects, and following would hand the token to whoever the answer names.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  /// A proxy's Basic or Digest challenge. Its answer has already been delivered whole; on Linux, left to
  /// its default handling, the task would never complete.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    finish(task, nil)
    completionHandler(.cancelAuthenticationChallenge, nil)
    task.cancel()
  }
}

extension ExchangeFailure {
  fileprivate init(_ error: any Error) {
    guard let error = error as? URLError else {
      self = .lost("\(error)")
      return
    }
    switch error.code {
    case .cancelled: self = .cancelled
    case .timedOut: self = .lost("nothing was heard for too long")
    default:
      let words = error.userInfo[NSLocalizedDescriptionKey] as? String
      self = .lost(words ?? "error \(error.code.rawValue)")
    }
  }
}
