import BelfryModel

/// One thing that can be asked for: how, where, by whom, with what, what it answers, and what it is called.
///
/// Everything but the answer itself is data. The document that describes the interface and the commands of
/// the command line are made from the same rows that requests are answered by. A class, for a request looks at
/// several before it finds its own, and copying each took longer than comparing its path.
package final class Route: Sendable {
  /// Who may ask.
  package enum Access: Sendable {
    case everyone
    /// Whoever is on the same machine, others with a token.
    case loopbackOrToken
    /// With any token.
    case token
    /// With an app's or an operator's token.
    case trusted
    /// With an operator's token.
    case operators

    var needsToken: Bool {
      switch self {
      case .everyone, .loopbackOrToken: false
      case .token, .trusted, .operators: true
      }
    }
  }

  package let verb: HTTPVerb
  package let path: PathPattern
  package let access: Access
  /// What a token must be for, unless it is for everything.
  package let scope: Scope
  /// Whether the audit record says when somebody trusted asked it.
  let isAudited: Bool
  /// Two words, as the command line has them: `channel create`.
  package let name: String
  /// A sentence without its full stop.
  package let summary: String
  /// Whether the command line offers it under its name. What it offers in a way of its own has no command made
  /// from the row.
  package let isCommand: Bool
  let body: Body
  /// What it costs an account that is not trusted.
  let price: Price
  let queryFields: [any DeclaredField]
  let pathFields: [any DeclaredField]
  let answer: Answer
  /// How it can go wrong, beside what any route can answer.
  let refusals: [Refusal.Code]

  /// - Parameters:
  ///   - scope: `read` of a GET and `manage` of others, unless given.
  ///   - isAudited: whatever is no GET, unless given.
  init(
    _ verb: HTTPVerb, _ path: String, _ access: Access, _ name: String, _ summary: String,
    isCommand: Bool = true, scope: Scope? = nil, isAudited: Bool? = nil, body: Body = .none,
    query: [any DeclaredField] = [], price: Price? = nil,
    refusals: [Refusal.Code] = [], _ answer: Answer
  ) {
    self.verb = verb
    self.path = PathPattern(path)
    self.access = access
    self.name = name
    self.summary = summary
    self.isCommand = isCommand
    // What a verb says: a GET changes nothing.
    self.scope = scope ?? (verb == .get ? .read : .manage)
    self.isAudited = isAudited ?? (verb != .get)
    self.body = body
    self.answer = answer
    self.refusals = refusals
    let isOpen = access == .everyone || access == .loopbackOrToken
    self.price = price ?? (isOpen ? .nothing : verb == .get ? .read : .operation)
    queryFields = query
    pathFields = self.path.parameters.compactMap { name in SharedFields.inPaths.first { $0.name == name } }
  }

  /// In the order of the path.
  package var pathProperties: [Property] { pathFields.map(\.property) }
  package var queryProperties: [Property] { queryFields.map(\.property) }
  /// Nil where there is no body, or one that is no single object.
  package var bodyShape: ObjectShape? { body.shape }
  /// Every way in which it can go well.
  package var outcomes: [Outcome] { answer.outcomes }
}

extension Route {
  /// What body it takes. The sizes leave room for a request at its limits written in the longest way JSON
  /// has (`\u0000` for each byte); the limits of its fields are checked when it is read.
  struct Body: Sendable {
    enum Form: Sendable, Hashable {
      case none, json, lines

      var sizeMaxBytes: Int {
        switch self {
        case .none: 0
        case .json: 256 * 1_024
        case .lines: 8 * 1_024 * 1_024
        }
      }
    }

    let form: Form
    /// What is read before the route is asked.
    var fields: [any DeclaredField] = []
    var rule = FieldRule.none
    /// Whether no body at all is as good as an empty object.
    var mayBeLeftOut = false
    /// What a body is that the route reads by itself.
    fileprivate var ownShape: ObjectShape?

    static let none = Body(form: .none)
    static func json(_ fields: any DeclaredField..., rule: FieldRule = .none) -> Body {
      Body(form: .json, fields: fields, rule: rule)
    }
    /// A body that no field of is needed, and that need not be there itself.
    static func optional(_ fields: any DeclaredField...) -> Body {
      Body(form: .json, fields: fields, mayBeLeftOut: true)
    }
    /// The route reads it by itself, where each microsecond counts.
    static func readByRoute(_ shape: ObjectShape) -> Body { Body(form: .json, ownShape: shape) }
    /// A body of many lines, which the route reads one by one.
    static let lines = Body(form: .lines)

    var shape: ObjectShape? {
      guard form == .json else { return nil }
      return ownShape ?? ObjectShape(fields.map(\.property), rule: rule)
    }

    /// - Throws: what is wrong, by its field.
    func read(_ bytes: [UInt8]) throws(Refusal) -> Values {
      guard form == .json, ownShape == nil else { return Values() }
      if mayBeLeftOut, bytes.isEmpty { return try Values([:], at: "", fields) }
      return try Values(ofBody: JSONParser.value(of: bytes), fields, rule: rule)
    }
  }
}
