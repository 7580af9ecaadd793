import BelfryModel

/// Finds the route that a request means.
struct Router: Sendable {
  struct Match {
    let route: Route
    let parameters: [String: String]
    /// A GET's answer without its body.
    let isHead: Bool
  }

  private let byLength: [Int: [Route]]

  /// Of two routes that match one path, `/notifications/stream` goes before `/notifications/{id}`.
  init(_ routes: [Route] = Routes.all) {
    byLength = Dictionary(grouping: routes) { route in route.path.segmentCount }
      .mapValues { $0.sorted { $0.path.literalCount > $1.path.literalCount } }
  }

  func match(method: String, path: [String]) throws(Problem) -> Match {
    let isHead = method == "HEAD"
    let verb = isHead ? HTTPVerb.get : HTTPVerb(rawValue: method)
    var meant: PathPattern?
    var allowed: [HTTPVerb] = []
    for route in byLength[path.count] ?? [] {
      // What the fixed words of one path mean is not also a parameter of another: `/groups/mine` is no group.
      if let meant, meant != route.path { continue }
      guard let parameters = route.path.match(path) else { continue }
      if route.verb == verb { return Match(route: route, parameters: parameters, isHead: isHead) }
      meant = route.path
      allowed.append(route.verb)
    }
    guard allowed.isEmpty else { throw .methodNotAllowed(allowed: allowed) }
    throw Problem(Refusal(.notFound, "there is nothing at this path"))
  }
}
