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
      Kind(.timeout), Kind(.unsupportedEncoding), Kind(.unsupportedVersion),
    ]
    static let upgradeNeeded = Kind(.upgradeNeeded)
  }

  /// All codes.
  static let codes = Set(
    (Refusal.Code.allCases.map(Kind.init(_:)) + Kind.beforeRouting + [.upgradeNeeded]).map(\.code)
  ).sorted()

  static let codeSchema: JSONValue = [
    "type": "string", "enum": .array(codes.map { .string($0) }),
    "description": "a stable error code; each response lists the codes it can have",
  ]

  /// The problem document, with the members that ``write(to:)`` writes.
  static let schema: JSONValue = [
    "type": "object",
    "required": ["type", "status", "title", "detail", "code"],
    "properties": [
      "type": ["type": "string", "const": "about:blank"],
      "status": ["type": "integer", "description": "the HTTP status"],
      "title": ["type": "string", "description": "the kind of problem"],
      "detail": ["type": "string", "description": "an explanation of this problem"],
      "code": ["$ref": "#/components/schemas/ProblemCode"],
      "field": [
        "type": "string",
        "description": .string(
          "the field, header or parameter that is wrong, such as `toAccids[3]`; `$` is the body as a whole"),
      ],
      "callbackCode": [
        "type": "string",
        "description": "with `refusedByCallback`: the reason code that the callback gave, if any",
      ],
      "messageClientId": [
        "type": "string",
        "description": "with `unknownOutcome` of a send: repeat the send with this id; it is sent only once",
      ],
      "retryAfter": [
        "type": "integer",
        "description":
          "seconds to wait before trying again, as in `Retry-After`; for a line of a batch, which has no headers",
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
