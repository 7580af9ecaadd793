import BelfryModel

extension Problem {
  /// A way in which a request is refused: its status, and the word by which a program decides.
  struct Kind: Hashable {
    let status: Int
    let code: String

    init(_ code: Refusal.Code) {
      status = code.status
      self.code = code.rawValue
    }

    fileprivate init(_ problem: Problem) {
      status = problem.status
      code = problem.code
    }

    static let malformed = Kind(.malformed(""))
    static let misdirected = Kind(.misdirected)
    static let unsupportedMediaType = Kind(.unsupportedMediaType(""))
    /// The refusals that any request can meet.
    fileprivate static let beforeRouting = [
      malformed, unsupportedMediaType, misdirected, Kind(.methodNotAllowed(allowed: [])),
      Kind(.timeout), Kind(.unsupportedEncoding),
    ]
    static let upgradeNeeded = Kind(.upgradeNeeded)
  }

  /// All codes.
  static let codes = Set(
    (Refusal.Code.allCases.map(Kind.init(_:)) + Kind.beforeRouting + [.upgradeNeeded]).map(\.code)
  ).sorted()

  static let codeSchema: JSONValue = [
    "type": "string", "enum": .array(codes.map { .string($0) }),
    "description": "a stable word to switch on; each answer lists those it can have",
  ]

  /// The problem document, with the members that ``write(to:)`` writes.
  static let schema: JSONValue = [
    "type": "object",
    "required": ["type", "status", "title", "detail", "code"],
    "properties": [
      "type": ["type": "string", "const": "about:blank"],
      "status": ["type": "integer", "description": "the status of the answer"],
      "title": ["type": "string", "description": "what kind of problem it is"],
      "detail": ["type": "string", "description": "what is wrong here, in a sentence"],
      "code": ["$ref": "#/components/schemas/ProblemCode"],
      "field": [
        "type": "string",
        "description": .string(
          "the path to what is wrong, such as `toAccids[3]`, a header, a parameter, or `$` for the body as a "
            + "whole"),
      ],
      "callbackCode": [
        "type": "string",
        "description": "with `refusedByCallback`: what the callback calls its reason, if it does",
      ],
      "messageClientId": [
        "type": "string",
        "description": "with `unknownOutcome` of a send: sent again with this id, it is sent once",
      ],
      "retryAfter": [
        "type": "integer",
        "description":
          "seconds after which it may succeed, as in `Retry-After`; a line of a batch has no header",
      ],
    ],
  ]
}

extension Route {
  /// All ways in which the route refuses, without those that any request can meet.
  var problems: [Problem.Kind] {
    var codes: Set<Refusal.Code> = [.invalidField, .busy, .unavailable]
    codes.formUnion(refusals)
    if verb != .get { codes.insert(.unknownOutcome) }
    if access.needsToken || access == .loopbackOrToken {
      codes.formUnion([.unauthorized, .tokenRevoked, .forbidden, .rateLimited])
    }
    if options.takesTicket { codes.insert(.invalidTicket) }
    if !pathProperties.isEmpty { codes.insert(.notFound) }
    // A callback may be asked about every request that changes something.
    if verb != .get, access == .token { codes.insert(.refusedByCallback) }
    if body.form != .none { codes.insert(.tooLarge) }
    var kinds = codes.map(Problem.Kind.init(_:)) + [.malformed]
    if access == .tokenLater { kinds.append(.upgradeNeeded) }
    return body.form == .none ? kinds : kinds + [.unsupportedMediaType]
  }
}
