import BelfryHTTP
import BelfryModel

/// What answers a route is given: the request after routing and after the caller was identified.
struct Request {
  let parameters: [String: String]
  let query: Query
  /// Nil only where no token is needed.
  let caller: Caller?
  /// The header `Last-Event-ID`, where a stream goes on.
  let lastEventID: String?
  let body: [UInt8]
  private weak var exchange: HTTPExchange?

  /// How long it asks to be held; 0 for most. A value that is refused later holds nothing.
  var waitSeconds: Int { min(max(query.text("wait").flatMap { Int($0) } ?? 0, 0), Feeds.waitMaxSeconds) }

  init(_ admission: Admission, _ request: HTTPRequest, _ exchange: HTTPExchange) {
    self.exchange = exchange
    parameters = admission.match.parameters
    query = admission.query
    caller = admission.caller
    lastEventID = request.headers["Last-Event-ID"]
    body = request.body
  }

  /// Calls the action should the client leave before it has its answer. Costs a watch, so it is for answers
  /// that take long.
  func onClientGone(_ action: @escaping () -> Void) { exchange?.onClientGone = action }

  /// The caller of a route that needs a token.
  func known() throws(Refusal) -> Caller {
    guard let caller else { throw Refusal(.unauthorized, "a token is needed") }
    return caller
  }

  func fields() throws(Refusal) -> Fields { try Fields(of: body) }
}

// MARK: - Parameters of the path

extension Request {
  func server() throws(Refusal) -> EntityID { try entity("serverId") }
  func channel() throws(Refusal) -> EntityID { try entity("channelId") }

  /// Nil where the route has no channel.
  func channelIfAny() throws(Refusal) -> EntityID? {
    parameters["channelId"] == nil ? nil : try channel()
  }

  func account() throws(Refusal) -> AccountID {
    guard let account = parameters["accid"].flatMap({ AccountID($0) }) else {
      throw .invalid("accid", "must be \(AccountID.rule)")
    }
    return account
  }

  func message() throws(Refusal) -> MessageID {
    guard let id = parameters["messageServerId"].flatMap({ MessageID($0) }) else {
      throw .invalid("messageServerId", "must be a decimal message id")
    }
    return id
  }

  private func entity(_ name: String) throws(Refusal) -> EntityID {
    guard let id = parameters[name].flatMap({ EntityID($0) }) else {
      throw .invalid(name, "must be a positive decimal id")
    }
    return id
  }
}
