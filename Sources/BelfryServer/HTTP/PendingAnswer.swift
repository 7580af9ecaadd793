import BelfryHTTP
import BelfryInterface
import BelfryLoop
import BelfryModel

/// An exchange that waits for its answer, and gets one: the work's, or that it took too long.
final class PendingAnswer {
  /// Longer than any answer takes while Redis is well, and than Redis is waited for when it is not. Whoever
  /// would wait longer is told to come back rather than kept.
  static let answerMaxSeconds = 10

  private var exchange: HTTPExchange?
  private let services: LoopServices
  private var timer: LoopTimer?

  init(_ exchange: HTTPExchange, _ services: LoopServices) {
    self.exchange = exchange
    self.services = services
  }

  func allowMoreTime(seconds: Int) {
    guard exchange != nil else { return }
    timer?.cancel()
    timer = services.loop.schedule(after: .seconds(Self.answerMaxSeconds + seconds)) { [self] in
      finish(HTTPResponse(Refusal(.unavailable, "this took too long; try again")))
    }
  }

  /// Of the request, while it has no answer.
  var head: HTTPRequestHead? { exchange?.head }

  func onClientGone(_ action: @escaping () -> Void) { exchange?.onClientGone = action }

  /// Whatever comes after the first answer comes too late.
  func finish(_ response: HTTPResponse) {
    guard let exchange else { return }
    self.exchange = nil
    timer?.cancel()
    timer = nil
    exchange.respond(services.counted(response))
  }
}
