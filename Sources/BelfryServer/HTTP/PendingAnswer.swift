import BelfryHTTP
import BelfryInterface
import BelfryLoop
import BelfryModel

/// Receives an answer: an HTTP request, or a frame of a socket.
protocol AnswerTaker: AnyObject {
  /// Called once.
  func respond(_ response: HTTPResponse)
  /// Calls the action if the client leaves before the answer.
  func watchForEnd(_ action: @escaping () -> Void)
}

extension HTTPExchange: AnswerTaker {
  func watchForEnd(_ action: @escaping () -> Void) { onClientGone = action }
}

/// An answer that a request waits for. The request gets either the answer of the work, or the answer that the
/// work took too long.
///
/// The work continues after the late answer. So the late answer to a change says that the change may be done.
final class PendingAnswer {
  /// Longer than any answer takes while Redis is healthy, and longer than the broker waits for Redis when it
  /// is not. A client that would wait longer is told to try again.
  static let answerMaxSeconds = 10

  private var taker: (any AnswerTaker)?
  private let services: LoopServices
  private let changesSomething: Bool
  private var timer: LoopTimer?
  /// Makes the answer for work that takes too long; nil: a standard answer.
  var lateAnswer: (() -> HTTPResponse)?
  /// True if a part of the work was done. Then a failure of the rest does not mean that nothing was done.
  var isPartlyDone = false

  /// - Parameter changesSomething: true if the work does more than read.
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

  /// The refusal in a form that fits the work as a whole.
  func explained(_ refusal: Refusal) -> Refusal {
    isPartlyDone && refusal.code == .unavailable ? .unknownOutcome : services.explained(refusal)
  }

  /// The head of the HTTP request, until it has an answer.
  var head: HTTPRequestHead? { (taker as? HTTPExchange)?.head }

  func onClientGone(_ action: @escaping () -> Void) { taker?.watchForEnd(action) }

  /// Only the first answer counts; later answers are ignored.
  func finish(_ response: HTTPResponse) {
    guard let taker else { return }
    self.taker = nil
    timer?.cancel()
    timer = nil
    taker.respond(services.counted(response))
  }
}
