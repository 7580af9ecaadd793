import BelfryHTTP
import BelfryInterface
import BelfryLoop
import BelfryModel

/// Who waits for an answer: a request of HTTP's, or a frame of a socket.
protocol AnswerTaker: AnyObject {
  /// Called once.
  func respond(_ response: HTTPResponse)
  /// Has the action called should whoever asked leave before the answer.
  func watchForEnd(_ action: @escaping () -> Void)
}

extension HTTPExchange: AnswerTaker {
  func watchForEnd(_ action: @escaping () -> Void) { onClientGone = action }
}

/// Somebody who waits for an answer, and gets one: the work's, or that it took too long.
final class PendingAnswer {
  /// Longer than any answer takes while Redis is well, and than Redis is waited for when it is not. Whoever
  /// would wait longer is told to come back rather than kept.
  static let answerMaxSeconds = 10

  private var taker: (any AnswerTaker)?
  private let services: LoopServices
  private var timer: LoopTimer?

  init(_ taker: any AnswerTaker, _ services: LoopServices) {
    self.taker = taker
    self.services = services
  }

  func allowMoreTime(seconds: Int) {
    guard taker != nil else { return }
    timer?.cancel()
    timer = services.loop.schedule(after: .seconds(Self.answerMaxSeconds + seconds)) { [self] in
      finish(HTTPResponse(Refusal(.unavailable, "this took too long; try again")))
    }
  }

  /// Of the request of HTTP's, while it has no answer.
  var head: HTTPRequestHead? { (taker as? HTTPExchange)?.head }

  func onClientGone(_ action: @escaping () -> Void) { taker?.watchForEnd(action) }

  /// Whatever comes after the first answer comes too late.
  func finish(_ response: HTTPResponse) {
    guard let taker else { return }
    self.taker = nil
    timer?.cancel()
    timer = nil
    taker.respond(services.counted(response))
  }
}
