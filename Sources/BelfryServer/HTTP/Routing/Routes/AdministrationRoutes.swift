import BelfryModel

extension Routes {
  /// For operators.
  static let administration: [Route] = [
    Route(
      .post, "/v1/keys", .operators, "key create", "Make a key for a back end, which is shown once",
      body: .json(KeyRoutes.name, KeyRoutes.scope, KeyRoutes.ttl), refusals: [.tooMany],
      .reply(.created(KeyRoutes.madeShape), by: KeyRoutes.create)),
    Route(
      .get, "/v1/keys", .operators, "key list", "List the keys of back ends",
      query: [KeyRoutes.limit],
      .reply(.ok(.page("keys", of: KeyRoutes.shape, "by id")), by: KeyRoutes.list)),
    Route(
      .delete, "/v1/keys/{keyId}", .operators, "key revoke", "Accept a back end's key no more",
      .reply(.noContent, by: KeyRoutes.revoke)),
    Route(
      .get, "/v1/audit", .operators, "broker audit", "Say what trusted callers did", isCommand: false,
      query: [Audit.limit, Audit.since, Audit.account, Audit.cursor],
      .reply(.ok(.page("entries", of: Audit.shape, "the latest first")), by: Audit.list)),
  ]
}
