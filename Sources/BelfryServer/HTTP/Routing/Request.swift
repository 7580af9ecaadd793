import BelfryBytes
import BelfryHTTP
import BelfryModel

/// What answers a route is given: the request after routing, after the caller was identified, and after what
/// it gives was read as the route declares it.
struct Request {
  /// Nil only where no token is needed.
  let caller: Caller?
  /// The header `Last-Event-ID`, where a stream goes on.
  let lastEventID: String?
  let body: [UInt8]
  /// Counts the body for as long as the request is worked on.
  private let held: HeldBytes?
  /// What the path names, in its order.
  let pathTexts: [UTF8Text]
  private var values = Values()
  private weak var exchange: HTTPExchange?

  /// How many accounts, servers and so on the lists of its body name.
  var namedCount: Int { values.namedCount }

  /// How long it asks to be held; 0 for most.
  var waitSeconds: Int { values.ifDeclared(Feeds.wait) ?? 0 }

  init(_ admission: Admission, _ request: HTTPRequest, _ exchange: HTTPExchange) throws(Refusal) {
    self.exchange = exchange
    caller = admission.caller
    lastEventID = request.headers[Feeds.lastEventID.name]
    body = request.body
    held = request.held
    pathTexts = admission.match.route.path.parameters.compactMap { admission.match.parameters[UTF8Text($0)] }
    let route = admission.match.route
    try values.read(query: request.head.query, route.queryFields)
    try values.read(admission.match.parameters, route.pathFields)
    values.add(try route.body.read(body))
  }

  /// Calls the action should the client leave before it has its answer. Costs a watch, so it is for answers
  /// that take long.
  func onClientGone(_ action: @escaping () -> Void) { exchange?.onClientGone = action }

  /// The caller of a route that needs a token.
  func known() throws(Refusal) -> Caller {
    guard let caller else { throw Refusal(.unauthorized, "a token is needed") }
    return caller
  }

  var actor: Actor { get throws(Refusal) { try known().actor } }
}

// MARK: - What is given

extension Request {
  subscript<Value>(_ field: Field<Value>) -> Value? { get throws(Refusal) { try values[field] } }
  subscript<Value>(_ field: SureField<Value>) -> Value { get throws(Refusal) { try values[field] } }

  var server: EntityID { get throws(Refusal) { try self[SharedFields.serverId] } }
  var channel: EntityID { get throws(Refusal) { try self[SharedFields.channelId] } }
  var group: EntityID { get throws(Refusal) { try self[SharedFields.groupId] } }
  var room: EntityID { get throws(Refusal) { try self[SharedFields.roomId] } }
  /// The account that the path names.
  var account: AccountID { get throws(Refusal) { try self[SharedFields.accid] } }
}
