import BelfryModel
import BelfryStore

/// Keys of back ends, for those who run the broker.
enum KeyRoutes {
  /// Ten years: longer than anything is left alone.
  private static let ttlMaxSeconds = 10 * 366 * 86_400

  static let name = Field("name", .text(characters: 1...Limits.nameCharacters), "which back end it is for")
    .needed
  static let scope = Field(
    "scope", .list(Kind<Scope>.choice, counts: 1...Scope.allCases.count),
    "what it is for; everything if left out")
  static let ttl = Field(
    "ttlSeconds", .seconds(1...ttlMaxSeconds), "for how many seconds; until it is revoked if left out")
  static let limit = Field("limit", .integer(1...BackEndKeys.countMax), "how many at most")
    .otherwise(BackEndKeys.countMax, .integer(Int64(BackEndKeys.countMax)))

  private static let properties: [Property] = [
    .always("keyId", .id, "its id"),
    .always("name", .text, "which back end it is for"),
    .sometimes("scope", .text, "what it is for, in words; left out: everything"),
    .always("createdAt", .time, "when it was made"),
    .always("createdBy", .text, "by whom"),
    .sometimes("expiresAt", .time, "until when it is good"),
  ]
  static let shape = Shape.resource("Key", properties)
  static let madeShape = Shape.resource(
    "MadeKey", properties + [.always("key", .text, "the key itself, which is shown this once")])

  static func create(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let broker = services.broker
    guard broker.backEndKeys.all.count < BackEndKeys.countMax else {
      throw Refusal(.tooMany, "there are \(BackEndKeys.countMax) keys, the most there may be: revoke one")
    }
    let scopes = try request[scope].map { Set($0) }
    // Whoever is narrowed makes nothing that is wider.
    if let own = try request.known().scopes, !(scopes?.isSubset(of: own) ?? false) {
      throw Refusal(
        .forbidden, "the token has the scope \(Scope.text(of: own)), and gives no other", field: scope.name)
    }
    let (key, text) = BackEndKey.make(
      name: try request[name], scopes: scopes, by: try request.known().subject,
      nowMilliseconds: WallClock.nowMilliseconds(),
      lifetimeSeconds: try request[ttl].map { $0.components.seconds })
    try await reading { () async throws(StoreError) in
      try await services.administration.putBackEndKey(key.id, key.record, version: Self.newVersion())
      try await broker.refreshBackEndKeys(from: services.administration)
    }
    var members = key.members
    members["key"] = .string(text)
    return .json(.object(members), status: 201).located(at: "/v1/keys/\(key.id)")
  }

  static func list(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let keys = services.broker.backEndKeys.all.prefix(try request[limit])
    return .json(["keys": .array(keys.map { .object($0.members) }), "cursor": .null])
  }

  static func revoke(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    let id = try request[SharedFields.keyId]
    let wasThere = try await reading { () async throws(StoreError) in
      let wasThere = try await services.administration.removeBackEndKey(id)
      try await services.broker.refreshBackEndKeys(from: services.administration)
      return wasThere
    }
    guard wasThere else { throw Refusal(.notFound, "there is no key \(id)") }
    return .noContent
  }

  private static func newVersion() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }
}

extension BackEndKey {
  fileprivate var members: JSONObject {
    var members: JSONObject = [
      "keyId": .string(id.text), "name": .string(name), "createdAt": .integer(createdAtMilliseconds),
      "createdBy": .string(createdBy),
    ]
    if let scopes { members["scope"] = .string(Scope.text(of: scopes)) }
    if let expiresAtSeconds { members["expiresAt"] = .integer(expiresAtSeconds * 1_000) }
    return members
  }
}
