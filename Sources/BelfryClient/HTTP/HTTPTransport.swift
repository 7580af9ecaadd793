import Foundation
import Synchronization

/// Connections to the broker and what goes over them. They close when the transport goes, that is with the
/// last client and the last open exchange that hold it.
final class HTTPTransport: Sendable {
  fileprivate let thread: CurlThread
  private let opened = Atomic<UInt64>(0)

  /// - Parameter authorityFile: whose certificates a broker may have, as PEM; nil: those that the system trusts.
  init(connectionsLimit: Int, authorityFile: String?) {
    thread = CurlThread(connectionsLimit: connectionsLimit, authorityFile: authorityFile)
  }

  deinit { thread.end() }

  /// - Parameter silenceSeconds: ends the exchange when nothing moves for so long, from the look-up of the
  ///   broker's name on.
  func open(_ request: HTTPRequest, at url: URL, silenceSeconds: Double) -> HTTPExchange {
    let inbox = ExchangeInbox(limitBytes: ClientLimits.untakenBytes)
    let number = opened.add(1, ordering: .relaxed).newValue
    thread.send(
      .begin(
        CurlThread.Beginning(
          number: number, request: request, url: url.absoluteString, silence: .seconds(silenceSeconds),
          inbox: inbox)))
    return HTTPExchange(transport: self, number: number, inbox: inbox)
  }
}

/// One request on its way, and its answer as it arrives. Letting go of it cancels it.
final class HTTPExchange: Sendable {
  private let transport: HTTPTransport
  private let number: UInt64
  private let inbox: ExchangeInbox

  fileprivate init(transport: HTTPTransport, number: UInt64, inbox: ExchangeInbox) {
    self.transport = transport
    self.number = number
    self.inbox = inbox
  }

  deinit { transport.thread.send(.cancel(number)) }

  /// Of a request that asks for another protocol: what the broker is to be sent, once it speaks that.
  func send(_ bytes: [UInt8]) { transport.thread.send(.upload(number, bytes)) }

  func next() async -> ExchangePart {
    let part = await inbox.take()
    if inbox.hasRoomAgain() { transport.thread.send(.resume(number)) }
    return part
  }
}
