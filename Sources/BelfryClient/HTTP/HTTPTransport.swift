import Foundation
import Synchronization

/// The connections to the broker. They close when the transport is released: with the last client and the last open
/// exchange that hold it.
final class HTTPTransport: Sendable {
  fileprivate let thread: CurlThread
  private let opened = Atomic<UInt64>(0)

  /// - Parameter authorityFile: a PEM file with the certificate authorities to trust. Nil means those that the system
  ///   trusts.
  init(connectionsLimit: Int, authorityFile: String?) {
    thread = CurlThread(connectionsLimit: connectionsLimit, authorityFile: authorityFile)
  }

  deinit { thread.end() }

  /// - Parameter silenceSeconds: the exchange ends when nothing moves for so long. The time counts from the look-up of the
  ///   broker's name.
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

/// One request on its way, and its answer as it arrives. Releasing it cancels it.
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

  /// Sends bytes of the other protocol, for a request that asks for one. They wait until the broker has agreed to it.
  func send(_ bytes: [UInt8]) { transport.thread.send(.upload(number, bytes)) }

  func next() async -> ExchangePart {
    let part = await inbox.take()
    if inbox.hasRoomAgain() { transport.thread.send(.resume(number)) }
    return part
  }
}
