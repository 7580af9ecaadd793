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
///
/// Work goes on after an answer that came first, so what that says of a change is that it may be done.
final class PendingAnswer {
  /// Longer than any answer takes while Redis is well, and than Redis is waited for when it is not. Whoever
  /// would wait longer is told to come back rather than kept.
  static let answerMaxSeconds = 10

  private var taker: (any AnswerTaker)?
  private let services: LoopServices
  private let changesSomething: Bool
  private var timer: LoopTimer?
  /// Makes the answer that is given when the work takes too long; nil: that it did.
  var lateAnswer: (() -> HTTPResponse)?
  /// Whether a part of the work was done. Then a failure of the rest does not mean that nothing was.
  var isPartlyDone = false

  /// - Parameter changesSomething: whether the work is more than reading.
  init(_ taker: any AnswerTaker, changesSomething: Bool, _ services: LoopServices) {
    self.taker = taker
    self.changesSomething = changesSomething
    self.services = services
  }

  var isAnswered: Bool { taker == nil }

  func allowMoreTime(seconds: Int) {
    guard taker != nil else { return }
    timer?.cancel()
    let most = services.broker.configuration.answerMaxSeconds
    timer = services.loop.schedule(after: .seconds(most + seconds)) { [self] in
      finish(lateAnswer?() ?? HTTPResponse(tooLong))
    }
  }

  private var tooLong: Refusal {
    changesSomething ? .unknownOutcome : Refusal(.unavailable, "this took too long; try again")
  }

  /// The refusal as it is said of the work as a whole.
  func explained(_ refusal: Refusal) -> Refusal {
    isPartlyDone && refusal.code == .unavailable ? .unknownOutcome : services.explained(refusal)
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
