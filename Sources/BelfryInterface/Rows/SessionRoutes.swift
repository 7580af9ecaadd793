import BelfryModel

/// The session of a browser: a cookie that replaces a token.
package enum SessionRoutes {
  package static let all: [Route] = [begin.route, end.route]

  /// A cookie lets its holder do no more than the token, so a token that only reads may be put into a cookie.
  package static let begin = endpoint(
    .post, "/v1/session", .token, "session begin",
    "Open a session: put the token of this request into a cookie, for browsers",
    refusals: [.notFound],
    answers: .created(
      .resource("Session", [.always("expiresAt", .time, "when the token and the cookie expire")]),
      isLocated: false),
    options: RouteOptions(hasCommand: false, scope: .read, isAudited: false, price: .read))

  /// Open to everybody, so that a browser can also drop a cookie that is no longer valid.
  package static let end = endpoint(
    .delete, "/v1/session", .everyone, "session end", "Close a session: delete its cookie",
    refusals: [.notFound, .forbidden], options: RouteOptions(hasCommand: false, isAudited: false))
}
