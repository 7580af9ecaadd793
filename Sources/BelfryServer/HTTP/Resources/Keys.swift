import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore
import BelfrySystem

/// Keys of back ends, for the operators of the broker.
enum Keys {
  static let handlers: [Handler] = [
    OperatorRoutes.createKey.handled(by: create),
    OperatorRoutes.listKeys.handled { _, services, limit in
      let keys = services.broker.backEndKeys.all.prefix(limit)
      return .json(["keys": .array(keys.map { .object($0.members) }), "cursor": .null])
    },
    OperatorRoutes.revokeKey.handled(by: revoke),
  ]

  private static func create(
    _ request: Request, _ services: LoopServices, name: String, scope: [Scope]?, lifetime: Duration?
  ) async throws(Refusal) -> HTTPResponse {
    let broker = services.broker
    guard broker.backEndKeys.all.count < BackEndKeys.countMax else {
      throw Refusal(.tooMany, "there are \(BackEndKeys.countMax) keys, which is the limit; revoke one first")
    }
    let scopes = scope.map { Set($0) }
    // A caller with limited scopes cannot make a key with more scopes.
    if let own = try request.known().scopes, !(scopes?.isSubset(of: own) ?? false) {
      throw Refusal(
        .forbidden, "the token has only the scope \(Scope.text(of: own)), and cannot grant another one",
        field: OperatorRoutes.keyScope.name)
    }
    let (key, text) = BackEndKey.make(
      name: name, scopes: scopes, by: try request.known().subject,
      nowMilliseconds: WallClock.nowMilliseconds(),
      lifetimeSeconds: lifetime?.components.seconds)
    try await reading { () async throws(StoreError) in
      try await services.administration.putBackEndKey(key.id, key.record, version: Self.newVersion())
    }
    // The brokers read it within a second in any case, and only this answer has the key.
    try? await broker.refreshBackEndKeys(from: services.administration)
    var members = key.members
    members["key"] = .string(text)
    return .json(.object(members), status: 201).located(at: "/v1/keys/\(key.id)")
  }

  private static func revoke(
    _ request: Request, _ services: LoopServices, id: EntityID
  ) async throws(Refusal) -> HTTPResponse {
    let wasThere = try await reading { () async throws(StoreError) in
      try await services.administration.removeBackEndKey(id)
    }
    try? await services.broker.refreshBackEndKeys(from: services.administration)
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
