import BelfryBytes
import BelfryInterface
import BelfryModel

/// Finds the handler for a request.
struct Router: Sendable {
  struct Match {
    let handler: Handler
    let parameters: [UTF8Text: UTF8Text]
    /// True if the answer is that of a GET without its body.
    let isHead: Bool

    var route: Route { handler.route }
  }

  /// The handlers of paths without parameters. Most requests have such a path, so they are found by one
  /// lookup.
  private let fixed: [[UTF8Text]: [Handler]]
  private let byLength: [Int: [Handler]]

  /// If two routes match one path, `/notifications/stream` comes before `/notifications/{id}`.
  init(_ handlers: [Handler] = Handlers.all) {
    fixed = Dictionary(grouping: handlers.filter { $0.route.path.literals != nil }) {
      $0.route.path.literals ?? []
    }
    byLength = Dictionary(grouping: handlers) { $0.route.path.segmentCount }
      .mapValues { $0.sorted { $0.route.path.literalCount > $1.route.path.literalCount } }
  }

  func match(method: UTF8Text, path: [UTF8Text]) throws(Problem) -> Match {
    guard path.allSatisfy({ $0.count <= Self.segmentBytesMax }) else { throw Self.nothing(at: path) }
    let isHead = method == Self.head
    let verb = isHead ? HTTPVerb.get : Self.verbs[method]
    if let handlers = fixed[path] {
      guard let handler = handlers.first(where: { $0.route.verb == verb }) else {
        throw .methodNotAllowed(allowed: handlers.map(\.route.verb))
      }
      return Match(handler: handler, parameters: [:], isHead: isHead)
    }
    var meant: PathPattern?
    var allowed: [HTTPVerb] = []
    for handler in byLength[path.count] ?? [] {
      let route = handler.route
      // A path of fixed words is never also the parameter of another path: `/groups/mine` is no group.
      if let meant, meant != route.path { continue }
      guard let parameters = route.path.match(path) else { continue }
      if route.verb == verb { return Match(handler: handler, parameters: parameters, isHead: isHead) }
      meant = route.path
      allowed.append(route.verb)
    }
    guard allowed.isEmpty else { throw .methodNotAllowed(allowed: allowed) }
    throw Self.nothing(at: path)
  }

  /// All routes of a path, with any method.
  func routes(at path: [UTF8Text]) throws(Problem) -> [Route] {
    guard path.allSatisfy({ $0.count <= Self.segmentBytesMax }) else { throw Self.nothing(at: path) }
    if let handlers = fixed[path] { return handlers.map(\.route) }
    let routes = (byLength[path.count] ?? []).map(\.route)
    guard let meant = routes.first(where: { $0.path.match(path) != nil })?.path else {
      throw Self.nothing(at: path)
    }
    return routes.filter { $0.path == meant }
  }

  private static let head: UTF8Text = "HEAD"
  private static let verbs = Dictionary(
    uniqueKeysWithValues: HTTPVerb.allCases.map { (UTF8Text($0.rawValue), $0) })
  /// A mistyped first word is named. Longer paths than any are not looked at.
  private static func nothing(at path: [UTF8Text]) -> Problem {
    let detail = "there is nothing at this path; GET /openapi.json describes all"
    guard path.count > 1, path[0] == version, path[1].count <= wordBytesMax,
      let meant = NearestWord.to(path[1].string, among: firstWords), UTF8Text(meant) != path[1]
    else { return Problem(Refusal(.notFound, detail)) }
    return Problem(Refusal(.notFound, "\(detail); perhaps /\(version.string)/\(meant) is meant"))
  }

  private static let version: UTF8Text = "v1"
  private static let wordBytesMax = 32
  /// The words behind the version: `notifications`, `servers`, and so on.
  private static let firstWords = Set(
    Routes.all.compactMap { route in
      route.path.firstWord(behind: version)
    }
  ).sorted()

  /// More than any name or id that a path holds.
  static let segmentBytesMax = 1_024
}
