package import BelfryModel

/// The description of the HTTP interface (OpenAPI 3.1), made from the same rows by which requests are answered.
package enum OpenAPIDocument {
  /// Equal rows make documents with equal bytes.
  package static let value = make(of: Routes.all).value
  /// Names that the rows give to two schemas. There must be none.
  static let ambiguousNames = make(of: Routes.all).ambiguousNames

  private static func make(of routes: [Route]) -> (value: JSONValue, ambiguousNames: Set<String>) {
    var writer = OperationWriter()
    var paths: [String: JSONObject] = [:]
    for route in routes {
      paths[route.path.description, default: [:]][route.verb.rawValue.lowercased()] = writer.operation(route)
    }
    let parameters = writer.headers()
    _ = writer.schemas.named("ProblemCode", Problem.codeSchema)
    _ = writer.schemas.named("Problem", Problem.schema)
    let value: JSONValue = [
      "openapi": "3.1.1",
      "info": info,
      "servers": [["url": "/"]],
      "tags": .array(
        Tag.allCases.map { ["name": .string($0.rawValue), "description": .string($0.meaning)] }),
      "paths": .object(JSONObject(paths.map { ($0.key, .object($0.value)) })),
      "components": [
        "schemas": .object(writer.schemas.components),
        "responses": .object(writer.responses),
        "parameters": parameters,
        "headers": ResponseHeader.components,
        "securitySchemes": ["bearerAuth": bearer, "ticket": ticket],
      ],
    ]
    return (value, writer.schemas.ambiguousNames)
  }

  private static let info: JSONValue = [
    "title": "Belfry", "version": .string(BelfryVersion.text),
    "summary": "A queue of system notifications, and a broker of subscriptions to them",
    "description": .string(description),
  ]

  private static let description = """
    JSON in and out, UTF-8. Ids are decimal strings (they have 63 bits; a JavaScript number has 53), and \
    numbers are taken as well. Times are integer milliseconds since 1970. `null` is as good as absent. \
    Whatever a request does not know is refused by name, fields and query parameters alike, and so is a \
    name that stands twice.

    What is refused is answered with a problem document (RFC 9457) whose `code` is a stable word to switch \
    on. Beside what each operation lists, any request can be answered with 405 `methodNotAllowed` (`Allow` \
    says what can be), 408 `timeout`, 413 or 431 `tooLarge`, 400 `malformed` and 501 `unsupportedEncoding`, \
    and a request line that is too long or no HTTP with 400 or 414 and no body that a program could read.

    With `Origin`, an answer has what CORS wants of it, if the broker is configured to let pages of that origin \
    ask. Where the broker gives session cookies, `POST /v1/session`, one stands for the token that it was made by. \
    A broker that knows its names answers another `Host` with 421 `misdirected`.

    `HEAD` is answered wherever `GET` is, and `OPTIONS` everywhere. A list's `cursor` is null at its end; a page may be shorter than \
    its limit before that.
    """

  private static let bearer: JSONValue = [
    "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
    "description": .string(
      "A JSON Web Token, or a key that `POST /v1/keys` made. HS256 with a secret of the broker's, or RS256 or EdDSA with "
        + "a key it was given. Claims: `sub`, the accid; `exp`; `role`: `user` (if absent), `app` or `operator`, "
        + "which may do everything, for any account; `device`, the one device it is for; `scope`, to what it is narrowed: "
        + "each operation names the one it needs."),
  ]
}

extension OpenAPIDocument {
  fileprivate static let ticket: JSONValue = [
    "type": "apiKey", "in": "query", "name": .string(NotificationRoutes.ticket.name),
    "description": "What `POST /v1/notifications/stream/tickets` gave. Good once, for half a minute.",
  ]
}

/// The groups of operations.
enum Tag: String, CaseIterable {
  case servers, channels, groups, rooms, accounts, notifications, broker

  init(_ route: Route) {
    self =
      switch route.name.prefix(while: { $0 != " " }) {
      case "server", "member": .servers
      case "channel": .channels
      case "group": .groups
      case "room": .rooms
      case "account", "subscriptions", "session": .accounts
      case "notification": .notifications
      default: .broker
      }
  }

  var meaning: String {
    switch self {
    case .servers: "Communities: settings, members, invitations, bans, roles"
    case .channels: "The channels of a server: rosters, lists, mutes"
    case .groups: "Conversations: members, roles, lists, mutes, files"
    case .rooms: "Voice chat rooms: attendees, hands, the stage, microphones"
    case .accounts: "What an account chooses, and what it subscribes to"
    case .notifications: "Sending, receiving, marking read"
    case .broker: "For those who run it, and what it is"
    }
  }
}
