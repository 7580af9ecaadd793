package import BelfryModel

/// One thing that can be asked for: how, where, by whom, with what, what it answers, and what it is called.
///
/// All of it is data: the server answers by these rows, and the document that describes the interface, the commands of
/// the command line and the client library are made from them. A class, for a request looks at several before it finds
/// its own, and copying each took longer than comparing its path.
package final class Route: Sendable {
  /// Who may ask.
  package enum Access: Sendable {
    case everyone
    /// Whoever is on the same machine, others with a token.
    case loopbackOrToken
    /// With any token, which may also come later, over the connection itself.
    case tokenLater
    /// With any token.
    case token
    /// With an app's or an operator's token.
    case trusted
    /// With an operator's token.
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
  /// Two words, as the command line has them: `channel create`.
  package let name: String
  /// A sentence without its full stop.
  package let summary: String
  package let options: RouteOptions
  package let body: RouteBody
  /// In the order of the path.
  package let pathProperties: [Property]
  package let queryProperties: [Property]
  /// Those headers that are this route's own.
  package let headerProperties: [Property]
  /// The operation that it carries out, where it is one and no more.
  package let operation: (any SpaceOperation.Type)?
  /// How it can go wrong, beside what any route can answer.
  package let refusals: [Refusal.Code]
  /// Every way in which it can go well.
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

  /// What a token must be for, unless it is for everything. What a verb says, unless the row says more: a GET changes
  /// nothing.
  package var scope: Scope { options.scope ?? (verb == .get ? .read : .manage) }
  /// Whether the audit record says when somebody trusted asked it.
  package var isAudited: Bool { options.isAudited ?? (verb != .get) }
  /// What it costs an account that is not trusted.
  package var price: Price {
    if let price = options.price { return price }
    return access.needsToken ? verb == .get ? .read : .operation : .nothing
  }
  /// The words of the command line for it; nil where that has a way of its own to offer it.
  package var command: String? { options.hasCommand ? options.command ?? name : nil }
}

/// A row of the interface together with the types of what it declares: the fields of its path, its query, its own
/// headers and its body, in this order. Who handles it is given one value for each, so a handler cannot ask for what its
/// row does not declare.
package struct Endpoint<each Value: Sendable>: Sendable {
  package let route: Route
  /// - Throws: what is wrong, by its field.
  package let read: @Sendable (inout RequestParts) throws(Refusal) -> (repeat each Value)
}

/// What of a row is mostly as its verb says.
package struct RouteOptions: Sendable {
  /// Other words than the name for the command line.
  package var command: String?
  package var hasCommand = true
  /// What there is to say when it is done, where the summary does not tell: what one way of asking leaves out another does.
  package var done: String?
  /// Whether it ends something for good that other people use too: whoever types it at a terminal is asked first.
  package var isDestructive = false
  package var scope: Scope?
  package var isAudited: Bool?
  package var price: Price?
  /// Whether a ticket may stand in place of a token, for what a browser opens and cannot give a header to.
  package var takesTicket = false
}

/// What body a route takes. The sizes leave room for a request at its limits written in the longest way JSON
/// has (`\u0000` for each byte); the limits of its fields are checked when it is read.
package struct RouteBody: Sendable {
  package enum Form: Sendable, Hashable {
    case none, json, lines

    package var sizeMaxBytes: Int {
      switch self {
      // Room for an empty object, which counts as no body: many clients send one with every PUT and POST.
      case .none: 64
      case .json: 256 * 1_024
      case .lines: 8 * 1_024 * 1_024
      }
    }

    package var mediaType: String { self == .lines ? "application/x-ndjson" : "application/json" }
  }

  package let form: Form
  /// What fields it has; nil where there is no body, or one that is no single object.
  package let shape: ObjectShape?
  /// Whether no body at all is as good as an empty object.
  package let mayBeLeftOut: Bool
  /// Whether the handler reads it by itself.
  package let isReadByHandler: Bool

  static let none = RouteBody(form: .none, shape: nil, mayBeLeftOut: false, isReadByHandler: false)
}

extension Access {
  /// How an operation refuses those who may not.
  fileprivate var refusals: [Refusal.Code] {
    switch self {
    case .anyAccount, .trusted: []
    case .members, .administrators, .owner, .ownRule: [.notMember]
    }
  }
}
