import BelfryBytes
import BelfryHTTP
import BelfryInterface
import BelfryModel

/// The parts of a request, independent of the transport.
struct GivenRequest {
  var parts: RequestParts
  /// Counts the body.
  let held: HeldBytes?
  /// The caller's address, as far as the connection and trusted proxies know.
  let address: String
}

/// A request as handlers see it, apart from the values that its row declares.
struct Request {
  /// Nil only if no token is needed.
  var caller: Caller?
  let body: [UInt8]
  /// Counts the body while the request is being worked on.
  private let held: HeldBytes?
  /// The values in the path, in its order.
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

  /// The request's head, until it has an answer.
  var head: HTTPRequestHead? { answer.head }

  /// Calls the action if the client leaves before it has its answer. This costs a watch, so it is only for
  /// answers that take long.
  func onClientGone(_ action: @escaping () -> Void) { answer.onClientGone(action) }

  /// A question for work that takes long: true while the client is there and has no answer.
  func interest() -> () -> Bool {
    let client = ClientPresence()
    onClientGone { client.isThere = false }
    return { [answer] in client.isThere && !answer.isAnswered }
  }

  /// True if it has been answered already, because it took too long.
  var isAnswered: Bool { answer.isAnswered }

  /// Sets the answer for a request that takes too long.
  func answerIfLate(_ answer: @escaping () -> HTTPResponse) { self.answer.lateAnswer = answer }

  /// Notes that a part of the request has been carried out.
  func notePartlyDone() { answer.isPartlyDone = true }

  /// Lets the answer take this much longer than others, because the client asked the broker to hold the
  /// request.
  func allowMoreTime(seconds: Int) { answer.allowMoreTime(seconds: seconds) }

  /// The caller of a route that needs a token.
  func known() throws(Refusal) -> Caller {
    guard let caller else { throw Refusal(.unauthorized, "a token is needed") }
    return caller
  }

  var actor: Actor { get throws(Refusal) { try known().actor } }
}

private final class ClientPresence {
  var isThere = true
}
