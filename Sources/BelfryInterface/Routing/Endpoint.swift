import BelfryModel

/// Declares an endpoint.
///
/// - Parameters:
///   - operation: the operation that the route carries out, if it is exactly one. The operation knows how it can be
///     refused.
///   - rule: says which fields of the body are given together.
///   - ownBody: the form of a body that the handler reads by itself.
///   - answers: the answers of a success. Without any, a success has no body.
func endpoint<
  each InPath: DeclaredField, each InQuery: DeclaredField, each InHeaders: DeclaredField,
  each InBody: DeclaredField
>(
  _ verb: HTTPVerb, _ path: String, _ access: Route.Access, _ name: String, _ summary: String,
  path pathFields: repeat each InPath, query queryFields: repeat each InQuery,
  headers headerFields: repeat each InHeaders, body bodyFields: repeat each InBody,
  rule: FieldRule = .none, bodyMayBeLeftOut: Bool = false, ownBody: OwnBody? = nil,
  operation: (any SpaceOperation.Type)? = nil, refusals: [Refusal.Code] = [], answers: Outcome...,
  options: RouteOptions = RouteOptions()
) -> Endpoint<
  repeat (each InPath).Value, repeat (each InQuery).Value, repeat (each InHeaders).Value,
  repeat (each InBody).Value
> {
  let path = (pattern: path, list: FieldList(repeat each pathFields))
  let query = FieldList(repeat each queryFields)
  let headers = FieldList(repeat each headerFields)
  let list = FieldList(repeat each bodyFields)
  let body = RouteBody(
    ownBody, otherwise: ObjectShape(list.properties, rule: rule), mayBeLeftOut: bodyMayBeLeftOut)
  let route = Route(
    verb, path.pattern, access, name, summary, options, body: body,
    properties: (path.list.properties, query.properties, headers.properties), operation: operation,
    refusals: refusals, outcomes: answers)
  return Endpoint(route: route) { parts throws(Refusal) in
    let inQuery = try query.read(query: parts.query)
    let inPath = try path.list.read(parts.path)
    let inHeaders = try headers.read(parts.headers)
    let isRead = body.form == .json && !body.isReadByHandler
    let inBody = try isRead ? list.read(parts.value(of: body), at: "", rule: rule) : list.read([:])
    return (repeat each inPath, repeat each inQuery, repeat each inHeaders, repeat each inBody)
  }
}

/// A body that the handler reads by itself.
enum OwnBody {
  /// One object.
  case object(ObjectShape)
  /// Many lines, read one by one.
  case lines
}

extension RouteBody {
  /// - Parameter declared: the fields that are declared one by one. No fields mean no body, unless the body may be left
  ///   out.
  fileprivate init(_ own: OwnBody?, otherwise declared: ObjectShape, mayBeLeftOut: Bool) {
    let isDeclared = !declared.properties.isEmpty || mayBeLeftOut
    switch own {
    case .lines: self.init(form: .lines, shape: nil, mayBeLeftOut: false, isReadByHandler: true)
    case .object(let shape): self.init(form: .json, shape: shape, mayBeLeftOut: false, isReadByHandler: true)
    case nil:
      self.init(
        form: isDeclared ? .json : .none, shape: isDeclared ? declared : nil, mayBeLeftOut: mayBeLeftOut,
        isReadByHandler: false)
    }
  }
}
