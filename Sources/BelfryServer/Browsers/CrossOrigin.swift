import BelfryBytes
import BelfryHTTP
import BelfryInterface

/// Decides which requests pages of other origins may send, and which answers they may read (Fetch standard,
/// section 3.2 "CORS protocol"). Only the request's headers decide, so refusals and streams are treated like
/// all other answers.
struct CrossOrigin: Sendable {
  enum Asker: Equatable {
    /// The request comes from no page, or from a page of the broker's own origin that only reads.
    case unnamed
    case allowed(String)
    case other
  }

  private let origins: Set<UTF8Text>
  private let givesCookies: Bool

  init(_ settings: BrowserSettings) {
    origins = Set(settings.allowedOrigins.map(\.text))
    givesCookies = settings.givesCookies
  }

  func asker(_ headers: HTTPHeaders) -> Asker {
    guard let origin = headers[Self.origin] else { return .unnamed }
    return origins.contains(UTF8Text(origin)) ? .allowed(origin) : .other
  }

  /// True if a browser says that a page of another origin caused the request (Fetch Metadata, section 2.1
  /// "Sec-Fetch-Site"). Programs do not send this header, and browsers do not send it over plain HTTP.
  static func isFromAnotherPage(_ headers: HTTPHeaders) -> Bool {
    guard let site = headers[fetchSite] else { return false }
    return ![sameOrigin, fromNoPage].contains(UTF8Text(site))
  }

  /// True if that page belongs to another site. That is more than another origin: to find it out in another
  /// way, the broker would need the list of all public suffixes.
  static func isFromAnotherSite(_ headers: HTTPHeaders) -> Bool {
    headers[fetchSite].map { UTF8Text($0) } == crossSite
  }

  private static let fetchSite = "Sec-Fetch-Site"
  private static let sameOrigin: UTF8Text = "same-origin"
  private static let fromNoPage: UTF8Text = "none"
  private static let crossSite: UTF8Text = "cross-site"

  /// The headers that every answer gets: a page must be able to read why it was refused. `Vary` is sent even
  /// if the request has no `Origin`. Otherwise a cache would give a page the answer that a program received.
  func fields(ofAnswerTo headers: HTTPHeaders) -> [(name: String, value: String)] {
    if origins.isEmpty { return [] }
    switch asker(headers) {
    case .unnamed, .other: return [Self.vary]
    case .allowed(let origin):
      let fields = [Self.vary, ("Access-Control-Allow-Origin", origin), Self.exposed]
      return givesCookies ? fields + [("Access-Control-Allow-Credentials", "true")] : fields
    }
  }

  /// The answer to OPTIONS. It tells everybody the methods, and the browser of an allowed page also what the
  /// page may send.
  func options(_ headers: HTTPHeaders, of routes: [Route]) -> HTTPResponse {
    let methods = HTTPVerb.methods(of: routes.map(\.verb)).joined(separator: ", ")
    var response = HTTPResponse(status: 204, headers: [(ResponseHeader.allow.rawValue, methods)])
    guard case .allowed = asker(headers), headers.contains("Access-Control-Request-Method") else {
      return response
    }
    let own = Set(routes.flatMap(\.headerProperties).map(\.name)).sorted()
    response.headers += [
      ("Access-Control-Allow-Methods", methods),
      ("Access-Control-Allow-Headers", (Self.requestHeaders + own).joined(separator: ", ")),
      ("Access-Control-Max-Age", String(Self.maxAgeSeconds)),
    ]
    return response
  }

  static let origin = "Origin"
  /// The longest time for which Chromium remembers an answer.
  static let maxAgeSeconds = 7_200
  /// The headers that a page may send in addition to those of the route.
  private static let requestHeaders = [
    "Authorization", "Content-Type", RequestHeader.account, RequestHeader.device,
  ]
  private static let vary = (name: "Vary", value: origin)
  private static let exposed = (name: "Access-Control-Expose-Headers", value: ResponseHeader.exposed)
}
