import BelfryBytes
import BelfryHTTP
import BelfryInterface
import BelfryModel

/// Where requests come in. One per loop, on its thread.
final class FrontDoor: HTTPHandler {
  private let services: LoopServices

  init(_ services: LoopServices) {
    self.services = services
  }

  let fieldsGivenOnce =
    ["Authorization", RequestHeader.account, RequestHeader.device, "Content-Type"]
    + Routes.all.flatMap(\.headerProperties).map(\.name)

  func route(_ head: HTTPRequestHead) -> HTTPRouting {
    do throws(Problem) {
      return .routed(try RoutedRequest(head, services))
    } catch {
      return .refused(services.counted(HTTPResponse(error)))
    }
  }

  func refuse(_ refusal: HTTPRefusal) -> HTTPResponse {
    services.counted(HTTPResponse(Problem(refusal)))
  }

  func pausedAccepting(_ pause: HTTPPause) {
    Log.line(
      "accepting paused",
      [
        "loop": services.loop.name, "cause": pause.cause, "connections": String(pause.connections),
        "streams": String(pause.streams),
      ])
  }

  func handshakesFailed(_ failures: HTTPHandshakeFailures) {
    Log.line(
      "tls handshakes failed",
      [
        "loop": services.loop.name, "count": String(failures.count), "last": failures.lastCause,
        "client": failures.lastClient.host,
      ])
  }
}
