import BelfryModel

/// A way in which a request is refused: its status, and the word that a program switches on.
struct ProblemKind: Hashable {
  let status: Int
  let code: String

  init(_ code: Refusal.Code) {
    status = code.status
    self.code = code.rawValue
  }

  private init(_ problem: Problem) {
    status = problem.status
    code = problem.code
  }

  static let malformed = ProblemKind(Problem(.malformed(detail: "")))
  static let unsupportedMediaType = ProblemKind(.unsupportedMediaType(""))
  /// What is refused whatever was asked for.
  private static let beforeRouting = [
    malformed, unsupportedMediaType, ProblemKind(.methodNotAllowed(allowed: [])),
    ProblemKind(Problem(.timeout)), ProblemKind(Problem(.unsupportedEncoding)),
  ]

  /// Every code there is.
  static let codes = Set((Refusal.Code.allCases.map(ProblemKind.init(_:)) + beforeRouting).map(\.code))
    .sorted()

  /// The problem document; its members as ``Problem`` writes them.
  static let schema: JSONValue = [
    "type": "object",
    "required": ["type", "status", "title", "detail", "code"],
    "properties": [
      "type": ["type": "string", "const": "about:blank"],
      "status": ["type": "integer", "description": "the status of the answer"],
      "title": ["type": "string", "description": "what kind of problem it is"],
      "detail": ["type": "string", "description": "what is wrong here, in a sentence"],
      "code": [
        "type": "string", "enum": .array(codes.map { .string($0) }),
        "description": "a stable word to switch on",
      ],
      "field": [
        "type": "string",
        "description": .string(
          "the path to what is wrong, such as `toAccids[3]`, a header, a parameter, or `$` for the body as a "
            + "whole"),
      ],
    ],
  ]
}

extension Route {
  /// Every way in which it refuses, as far as it depends on the route.
  var problems: [ProblemKind] {
    var codes: Set<Refusal.Code> = [.invalidField, .busy, .unavailable]
    codes.formUnion(refusals)
    codes.formUnion(answer.refusals)
    switch access {
    case .everyone: break
    case .loopbackOrToken, .token, .trusted, .operators:
      codes.formUnion([.unauthorized, .forbidden, .rateLimited])
    }
    if !pathFields.isEmpty { codes.insert(.notFound) }
    if body.form != .none { codes.insert(.tooLarge) }
    let kinds = codes.map(ProblemKind.init(_:)) + [.malformed]
    return body.form == .none ? kinds : kinds + [.unsupportedMediaType]
  }
}
