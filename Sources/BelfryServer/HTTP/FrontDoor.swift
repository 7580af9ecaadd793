import BelfryBytes
import BelfryHTTP
import BelfryInterface
import BelfryModel

/// Receives the requests of one loop, on its thread.
final class FrontDoor: HTTPHandler {
  private let services: LoopServices

  init(_ services: LoopServices) {
    self.services = services
  }

  let fieldsGivenOnce =
    [
      "Authorization", RequestHeader.account, RequestHeader.device, "Content-Type", CrossOrigin.origin,
      SessionCookie.header,
    ]
    + WebSocketHandshake.fieldsGivenOnce + Routes.all.flatMap(\.headerProperties).map(\.name)

  func route(_ head: HTTPRequestHead) -> HTTPRouting {
    do throws(Problem) {
      if head.method == Self.options { return .refused(services.counted(try options(head))) }
      return .routed(try RoutedRequest(head, services))
    } catch {
      return .refused(services.counted(HTTPResponse(error)))
    }
  }

  private func options(_ head: HTTPRequestHead) throws(Problem) -> HTTPResponse {
    // The target `*` means the broker as a whole (RFC 9110 section 9.3.7).
    let routes =
      head.path.utf8.elementsEqual("*".utf8) ? Routes.all : try RoutedRequest.router.routes(at: head.segments)
    return services.broker.crossOrigin.options(head.headers, of: routes)
  }

  private static let options: UTF8Text = "OPTIONS"

  func fieldsOfAnswer(to request: HTTPHeaders) -> [(name: String, value: String)] {
    services.broker.crossOrigin.fields(ofAnswerTo: request)
  }

  func refuse(_ refusal: HTTPRefusal) -> HTTPResponse {
    services.counted(HTTPResponse(Problem(refusal)))
  }

  func pausedAccepting(_ pause: HTTPPause) {
    Log.line(
      "new connections wait until others end",
      [
        "loop": String(services.loopNumber), "cause": pause.cause, "connections": String(pause.connections),
        "streams": String(pause.streams),
      ])
  }

  func handshakesFailed(_ failures: HTTPHandshakeFailures) {
    Log.line(
      "tls handshakes failed",
      [
        "loop": String(services.loopNumber), "count": String(failures.count), "last": failures.lastCause,
        "client": failures.lastClient.host,
      ])
  }
}
