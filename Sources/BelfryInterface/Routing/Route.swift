package import BelfryModel

/// One request that the interface offers: its method, its path, its callers, its input, its answers, and its name.
///
/// All of it is data. The server answers by these rows. The document that describes the interface, the commands of the
/// command line and the client library are made from them. It is a class because a request looks at several routes before
/// it finds its own, and copying each one took longer than comparing its path.
package final class Route: Sendable {
  /// The callers who may ask.
  package enum Access: Sendable {
    case everyone
    /// Callers on the same machine without a token, others with one.
    case loopbackOrToken
    /// Callers with any token. The token may also come later, over the connection itself.
    case tokenLater
    /// Callers with any token.
    case token
    /// Callers with an app or operator token.
    case trusted
    /// Callers with an operator token.
    case operators

    package var needsToken: Bool {
      switch self {
      case .everyone, .loopbackOrToken: false
      case .tokenLater, .token, .trusted, .operators: true
      }
    }
  }

  package let verb: HTTPVerb
  package let path: PathPattern
  package let access: Access
  /// Two words, as the command line uses them: `channel create`.
  package let name: String
  /// A sentence without its full stop.
  package let summary: String
  package let options: RouteOptions
  package let body: RouteBody
  /// In the order of the path.
  package let pathProperties: [Property]
  package let queryProperties: [Property]
  /// The headers that only this route accepts.
  package let headerProperties: [Property]
  /// The operation that it carries out, if it is exactly one.
  package let operation: (any SpaceOperation.Type)?
  /// The refusals of this route, in addition to those of any route.
  package let refusals: [Refusal.Code]
  /// All successful answers.
  package let outcomes: [Outcome]

  init(
    _ verb: HTTPVerb, _ path: String, _ access: Access, _ name: String, _ summary: String,
    _ options: RouteOptions, body: RouteBody,
    properties: (path: [Property], query: [Property], headers: [Property]),
    operation: (any SpaceOperation.Type)?, refusals: [Refusal.Code], outcomes: [Outcome]
  ) {
    self.verb = verb
    self.path = PathPattern(path)
    self.access = access
    self.name = name
    self.summary = summary
    self.options = options
    self.body = body
    pathProperties = properties.path
    queryProperties = properties.query
    headerProperties = properties.headers
    self.operation = operation
    self.refusals = refusals + (operation.map { [.notFound, .conflict] + $0.access.refusals } ?? [])
    self.outcomes = outcomes.isEmpty ? [.noContent] : outcomes
  }

  /// The scope that a token must have, unless the token may do everything. It follows from the verb, unless the row gives
  /// another one: a GET changes nothing.
  package var scope: Scope { options.scope ?? (verb == .get ? .read : .manage) }
  /// True if the audit record lists the requests of trusted callers.
  package var isAudited: Bool { options.isAudited ?? (verb != .get) }
  /// The price that an account pays which is not trusted.
  package var price: Price {
    if let price = options.price { return price }
    return access.needsToken ? verb == .get ? .read : .operation : .nothing
  }
  /// The words of its command. Nil if the command line offers it in another way.
  package var command: String? { options.hasCommand ? options.command ?? name : nil }
}

/// A row of the interface together with the types of its fields: those of its path, its query, its own headers and its
/// body, in this order. The handler gets one value for each, so it cannot ask for a field that its row does not declare.
package struct Endpoint<each Value: Sendable>: Sendable {
  package let route: Route
  /// - Throws: the refusal of the field that is wrong.
  package let read: @Sendable (inout RequestParts) throws(Refusal) -> (repeat each Value)
}

/// The properties of a row that mostly follow from its verb.
package struct RouteOptions: Sendable {
  /// The words of its command, if they differ from the name.
  package var command: String?
  /// Other names of the command, which work, too: earlier ones, and those that it has by analogy to other spaces.
  package var otherCommands: [String] = []
  package var hasCommand = true
  /// The text that the command line prints after success: a few words in the past tense, such as `banned`. `{on}` stands
  /// for the value of that flag of the body: on or off.
  package var done: String?
  /// The field of an answer that counts what was done, and the words that the command line prints in place of ``done`` if it
  /// is 0.
  package var nothingDone: (field: String, words: String)?
  /// The question that the command line asks first, such as `Delete for good`; nil if it goes on without asking.
  package var question: String?
  /// A second command for the caller's own account; nil if there is none.
  package var ownCommand: OwnCommand?
  /// True if the command may leave out the account of the path. It then means the account that it acts for.
  package var accountMayBeLeftOut = false
  /// True if that account can only be the one that acts. Examples then leave it out.
  package var accountIsCaller = false
  /// The fields that a table of a list shows, in this order; empty for the first ones that fit.
  package var columns: [String] = []
  /// The words of fields in an example of the command. It has these fields and all needed ones.
  package var example: [String: String] = [:]  // own text
  /// The fields that one choice of another field needs, such as `url` with the kind `matrix`.
  package var needed: [NeededWithChoice] = []
  package var scope: Scope?
  package var isAudited: Bool?
  package var price: Price?
  /// True if a ticket may replace the token. Browsers need it for connections to which they cannot give a header.
  package var takesTicket = false
}

/// Fields that are needed if another field has a certain value.
package struct NeededWithChoice: Sendable {
  package let field: String
  package let word: String
  package let names: [String]
}

/// A second command of a row whose path ends with an account, such as `server leave`. It is for the account that acts, so
/// the account may be left out.
package struct OwnCommand: Sendable {
  package let name: String
  /// A sentence without its full stop.
  package let summary: String
  package let done: String
  package let question: String

  static func leaving(
    _ name: String, _ summary: String, done: String, question: String = "Leave"
  ) -> OwnCommand {
    OwnCommand(name: name, summary: summary, done: done, question: question)
  }
}

/// The body that a route takes. The sizes leave room for a request at its limits in the longest form that JSON has
/// (`\u0000` for each byte). The limits of the fields are checked when the body is read.
package struct RouteBody: Sendable {
  package enum Form: Sendable, Hashable {
    case none, json, lines

    package var sizeMaxBytes: Int {
      switch self {
      // Room for an empty object, which counts as no body. Many clients send one with every PUT and POST.
      case .none: 64
      case .json: 256 * 1_024
      case .lines: 8 * 1_024 * 1_024
      }
    }

    package var mediaType: String { self == .lines ? "application/x-ndjson" : "application/json" }
  }

  package let form: Form
  /// The fields of the body. Nil if there is no body, or if the body is not one object.
  package let shape: ObjectShape?
  /// True if no body at all means the same as an empty object.
  package let mayBeLeftOut: Bool
  /// True if the handler reads the body by itself.
  package let isReadByHandler: Bool

  static let none = RouteBody(form: .none, shape: nil, mayBeLeftOut: false, isReadByHandler: false)
}

extension Access {
  /// The refusals of an operation for callers who may not do it.
  fileprivate var refusals: [Refusal.Code] {
    switch self {
    case .anyAccount, .trusted: []
    case .members, .administrators, .owner, .ownRule: [.notMember]
    }
  }
}
