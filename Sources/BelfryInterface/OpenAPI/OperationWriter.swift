import BelfryModel

/// Describes routes one by one, and collects the parts that they share.
struct OperationWriter {
  var schemas = SchemaWriter()
  /// The refusals so far, by name. Many routes share a refusal.
  private(set) var responses: JSONObject = [:]

  mutating func operation(_ route: Route) -> JSONValue {
    var operation: JSONObject = [
      "operationId": .string(route.operationID), "summary": .string(route.summary),
      "tags": [.string(Tag(route).rawValue)], "security": route.security,
      "responses": answers(of: route),
    ]
    let parameters = parameters(of: route)
    if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
    if let body = body(of: route) { operation["requestBody"] = body }
    return .object(operation)
  }

  // MARK: Requests

  private mutating func parameters(of route: Route) -> [JSONValue] {
    var parameters: [JSONValue] = []
    for property in route.pathProperties {
      parameters.append(parameter(property, in: "path", isNeeded: true))
    }
    for property in route.queryProperties {
      parameters.append(parameter(property, in: "query", isNeeded: property.isNeeded))
    }
    if route.access.needsToken {
      for name in [RequestHeader.account, RequestHeader.device] {
        parameters.append(["$ref": .string("#/components/parameters/\(name)")])
      }
    }
    for property in route.headerProperties {
      parameters.append(parameter(property, in: "header", isNeeded: property.isNeeded))
    }
    return parameters
  }

  private mutating func parameter(_ property: Property, in place: String, isNeeded: Bool) -> JSONValue {
    var schema = schemas.schema(property.shape, .askedAsText)
    if let standard = property.standard { schema = schema.with("default", standard) }
    return [
      "name": .string(property.name), "in": .string(place), "required": .bool(isNeeded),
      "description": .string(property.meaning), "schema": schema,
    ]
  }

  private mutating func body(of route: Route) -> JSONValue? {
    let content: JSONValue
    switch route.body.form {
    case .none: return nil
    case .lines:
      content = [
        "schema": ["type": "string", "minLength": 1, "description": .string(NotificationRoutes.linesMeaning)]
      ]
    case .json:
      guard let shape = route.body.shape else { return nil }
      content = [
        "schema": schemas.named(route.bodyName, schemas.object(shape, .asked)),
        "example": shape.example(
          withOptional: route.options.example.isEmpty ? nil : Set(route.options.example.keys)),
      ]
    }
    return [
      "required": .bool(!route.body.mayBeLeftOut),
      "content": .object([route.body.form.mediaType: content]),
    ]
  }

  /// The headers that any request with a token may have.
  mutating func headers() -> JSONValue {
    let headers = [
      (RequestHeader.account, Shape.account, "the account that an app or operator token acts for"),
      (RequestHeader.device, Shape.device, "the device that makes the request, if the token names none"),
    ]
    var parameters: JSONObject = [:]
    for (name, shape, meaning) in headers {
      parameters[name] = [
        "name": .string(name), "in": "header", "required": false, "description": .string(meaning),
        "schema": schemas.schema(shape, .askedAsText),
      ]
    }
    return .object(parameters)
  }

  // MARK: Answers

  private mutating func answers(of route: Route) -> JSONValue {
    var answers: JSONObject = [:]
    for outcome in route.outcomes { answers["\(outcome.status)"] = answer(outcome) }
    for (status, kinds) in Dictionary(grouping: route.problems, by: \.status) {
      answers["\(status)"] = refusal(status, kinds)
    }
    return .object(answers)
  }

  private mutating func answer(_ outcome: Outcome) -> JSONValue {
    var answer: JSONObject = ["description": .string(outcome.meaning)]
    switch outcome.content {
    case .none: break
    case .json(let shape):
      answer["content"] = ["application/json": ["schema": schemas.schema(shape, .answered)]]
    case .socket(let events): answer["x-frames"] = .object(frames(events))
    case .other(let type, _): answer["content"] = .object([type: ["schema": ["type": "string"]]])
    case .events(let events):
      // OpenAPI 3.1 has no word for the events of a stream.
      answer["content"] = [
        "text/event-stream": ["schema": ["type": "string"], "x-events": .object(schemas(of: events))]
      ]
    }
    let header: ResponseHeader? = outcome.isLocated ? .location : outcome.isTagged ? .etag : nil
    if let header { answer["headers"] = .object([header.rawValue: header.reference]) }
    return .object(answer)
  }

  private mutating func schemas(of events: [EventShape]) -> JSONObject {
    JSONObject(
      events.map { event in
        let schema = schemas.schema(event.data, .answered)
        return (event.name, schema.with("description", .string(event.meaning)))
      })
  }

  /// The frames of each direction: for each name in a frame, the shape of its value.
  private mutating func frames(_ events: [EventShape]) -> JSONObject {
    let asked = SocketRequest.allCases.map { request -> (String, JSONValue) in
      (request.rawValue, ["description": .string(request.meaning)])
    }
    return [
      "client": .object(
        JSONObject(
          asked + [("connect", schemas.schema(.object(SocketRoutes.connectShape), .asked))])),
      "server": .object(schemas(of: events)),
    ]
  }

  private mutating func refusal(_ status: Int, _ kinds: [Problem.Kind]) -> JSONValue {
    let codes = Set(kinds.map(\.code)).sorted()
    let name = ([String(status)] + codes).joined(separator: "-")
    var response: JSONObject = [
      "description": .string("Refused: " + codes.map { "`\($0)`" }.joined(separator: ", ")),
      "content": [
        "application/problem+json": ["schema": ["$ref": "#/components/schemas/Problem"]]
      ],
    ]
    if let header = ResponseHeader(ofStatus: status) {
      response["headers"] = .object([header.rawValue: header.reference])
    }
    responses[name] = .object(response)
    return ["$ref": .string("#/components/responses/\(name)")]
  }
}

extension Route {
  /// `server create-code` is `serverCreateCode`.
  package var operationID: String {
    let words = name.split { $0 == " " || $0 == "-" }
    return words.dropFirst().reduce(into: String(words.first ?? "")) { id, word in
      id += word.prefix(1).uppercased() + word.dropFirst()
    }
  }
}

extension Route {
  /// The name of its body's schema.
  fileprivate var bodyName: String { operationID.prefix(1).uppercased() + operationID.dropFirst() + "Body" }

  /// The ways in which a caller identifies itself, with the scope that its token needs unless the token has no scopes at
  /// all.
  fileprivate var security: JSONValue {
    let bearer: JSONValue = ["bearerAuth": [.string(scope.rawValue)]]
    let ticket: [JSONValue] = options.takesTicket ? [["ticket": []]] : []
    return switch access {
    case .everyone: []
    case .loopbackOrToken, .tokenLater: .array([[:], bearer] + ticket)
    case .token, .trusted, .operators: .array([bearer] + ticket)
    }
  }
}

extension Outcome {
  fileprivate var meaning: String {
    switch content {
    case .none:
      status == 304 ? "Not modified: the document still has the `ETag` that `If-None-Match` names" : "Done"
    case .other(_, let meaning): meaning.prefix(1).uppercased() + meaning.dropFirst()
    case .events:
      "A stream of events, until the client leaves or its token expires. `x-events` has the schema of each event's data, by "
        + "the name in its `event` line."
    case .socket:
      "A WebSocket. `x-frames` has the schema of each frame, of the client and of the broker; docs/socket.md describes the "
        + "protocol."
    case .json: status == 201 ? "Created" : "Done"
    }
  }
}

/// Headers of answers.
package enum ResponseHeader: String, CaseIterable {
  case location = "Location"
  case retryAfter = "Retry-After"
  case authenticate = "WWW-Authenticate"
  case etag = "ETag"
  case allow = "Allow"

  /// The headers of an answer that a page of another origin may see, in addition to those that any page may see.
  package static let exposed = (allCases.map(\.rawValue) + ["Date"]).joined(separator: ", ")

  /// The headers of a refusal with this status.
  init?(ofStatus status: Int) {
    switch status {
    case 401: self = .authenticate
    case 409, 429, 503: self = .retryAfter
    default: return nil
    }
  }

  var reference: JSONValue { ["$ref": .string("#/components/headers/\(rawValue)")] }

  static let components: JSONValue = .object(
    JSONObject(allCases.map { ($0.rawValue, $0.component) }))

  private var component: JSONValue {
    switch self {
    case .location: ["description": "the path of what was created", "schema": ["type": "string"]]
    case .retryAfter:
      [
        "description": "the seconds to wait before trying again",
        "schema": ["type": "integer", "minimum": 0],
      ]
    case .authenticate: ["description": "`Bearer`", "schema": ["type": "string"]]
    case .etag:
      ["description": "the version of the document, for `If-None-Match`", "schema": ["type": "string"]]
    case .allow: ["description": "the methods that this path supports", "schema": ["type": "string"]]
    }
  }
}
