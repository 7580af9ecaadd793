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
    "summary": "A notification queue and subscription broker",
    "description": .string(description),
  ]

  private static let description = """
    Requests and responses are JSON in UTF-8. Ids are decimal strings, because they have 63 bits and a \
    JavaScript number has 53; requests may also use numbers. Times are integer milliseconds since 1970. \
    `null` means the same as an absent field. The broker refuses unknown fields and query parameters, and a \
    name that occurs twice; the refusal says which name.

    A refused request is answered with a problem document (RFC 9457), whose `code` is a stable error code. In \
    addition to the responses that each operation lists, any request can be answered with 405 \
    `methodNotAllowed` (the header `Allow` lists the methods), 408 `timeout`, 413, 414 or 431 `tooLarge`, 400 \
    `malformed`, 501 `unsupportedEncoding`, 503 `busy` and 505 `unsupportedVersion`.

    If the broker is configured to allow pages of the request's `Origin`, responses have the CORS headers. If \
    the broker gives session cookies (`POST /v1/session`), a browser can send its cookie instead of a token. A \
    broker that is configured with its host names answers any other `Host` with 421 `misdirected`.

    Each path with `GET` also supports `HEAD`, and every path supports `OPTIONS`. The `cursor` of a list's \
    last page is null. An earlier page may also be shorter than its limit.
    """

  private static let bearer: JSONValue = [
    "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
    "description": .string(
      "A JSON Web Token, or a key that `POST /v1/keys` created. A token is signed by HS256 with a secret of the broker, or by "
        + "RS256 or EdDSA with a key whose public part the broker has. A token's claims are `sub` (the accid), `exp` (when it "
        + "expires), `role` (`user`, the default, or `app` or `operator`, which may act for any account), `device` (the only "
        + "device that may use it) and `scope` (the operations that it may do). Each operation names the scope that it needs."
    ),
  ]
}

extension OpenAPIDocument {
  fileprivate static let ticket: JSONValue = [
    "type": "apiKey", "in": "query", "name": .string(NotificationRoutes.ticket.name),
    "description":
      "A ticket from `POST /v1/notifications/stream/tickets`. It is valid once, and for half a minute.",
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
    case .servers: "Servers: settings, members, invitations, bans, roles"
    case .channels: "The channels of a server: rosters, lists, mutes"
    case .groups: "Groups: members, roles, lists, mutes, files"
    case .rooms: "Voice rooms: attendees, raised hands, the stage, microphones"
    case .accounts: "Accounts: options, invitations, preferences, subscriptions, streams, pushers"
    case .notifications: "Sending, receiving, marking read"
    case .broker: "Health, statistics, nodes, the audit record, notification types, keys, webhooks"
    }
  }
}
