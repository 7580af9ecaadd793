import BelfryBytes
import BelfryHTTP
import BelfryInterface
import BelfryModel

/// What was asked, whatever it came by.
struct GivenRequest {
  var parts: RequestParts
  /// Counts the body.
  let held: HeldBytes?
  /// The caller's address, as far as the connection and trusted proxies know.
  let address: String
}

/// What a handler is told of a request beside the values that its row declares.
struct Request {
  /// Nil only where no token is needed.
  var caller: Caller?
  let body: [UInt8]
  /// Counts the body for as long as the request is worked on.
  private let held: HeldBytes?
  /// What the path names, in its order.
  let pathTexts: [UTF8Text]
  private let answer: PendingAnswer
  /// The caller's address, as far as the connection and trusted proxies know.
  let address: String

  init(_ routed: RoutedRequest, _ given: GivenRequest, _ answer: PendingAnswer) {
    caller = routed.caller
    body = given.parts.body
    held = given.held
    let parameters = routed.match.parameters
    pathTexts = routed.match.route.path.parameters.compactMap { parameters[UTF8Text($0)] }
    self.answer = answer
    address = given.address
  }

  /// The request's head, for as long as it has no answer.
  var head: HTTPRequestHead? { answer.head }

  /// Calls the action should the client leave before it has its answer. Costs a watch, so it is for answers
  /// that take long.
  func onClientGone(_ action: @escaping () -> Void) { answer.onClientGone(action) }

  /// Whether it has been answered already, because it took too long.
  var isAnswered: Bool { answer.isAnswered }

  /// Sets what is answered if it takes too long.
  func answerIfLate(_ answer: @escaping () -> HTTPResponse) { self.answer.lateAnswer = answer }

  /// A part of what it asks for has been done.
  func notePartlyDone() { answer.isPartlyDone = true }

  /// Its answer may take so much longer than others, for it was asked to be held.
  func allowMoreTime(seconds: Int) { answer.allowMoreTime(seconds: seconds) }

  /// The caller of a route that needs a token.
  func known() throws(Refusal) -> Caller {
    guard let caller else { throw Refusal(.unauthorized, "a token is needed") }
    return caller
  }

  var actor: Actor { get throws(Refusal) { try known().actor } }
}
