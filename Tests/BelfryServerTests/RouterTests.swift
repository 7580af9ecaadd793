import BelfryBytes
import Testing

@testable import BelfryInterface
@testable import BelfryServer

@Suite struct RouterTests {
  let router = Router()

  private func path(_ text: String) -> [UTF8Text] { text.split(separator: "/").map { UTF8Text($0) } }

  @Test(arguments: Routes.all.map { ($0.verb, $0.path.description) })
  func everyRouteIsFound(verb: HTTPVerb, pattern: String) throws {
    let path = path(pattern.replacing("{serverId}", with: "1").replacing("{channelId}", with: "2"))
    let match = try router.match(method: UTF8Text(verb.rawValue), path: path)
    #expect(match.route.path.description == pattern)
    #expect(match.route.verb == verb)
    #expect(!match.isHead)
  }

  @Test func noTwoRoutesAreTheSame() {
    let names = Routes.all.map { "\($0.verb.rawValue) \($0.path)" }
    #expect(Set(names).count == names.count)
  }

  /// A row without a handler would not be found, and a handler without its row would be in no document.
  @Test func everyRowHasItsHandler() {
    let rows = Routes.all.map { ObjectIdentifier($0) }
    let handled = Handlers.all.map { ObjectIdentifier($0.route) }
    #expect(Set(rows) == Set(handled))
    #expect(rows.count == handled.count)
    for handler in Handlers.all {
      #expect(
        handler.operation.map { ObjectIdentifier($0) }
          == handler.route.operation.map { ObjectIdentifier($0) },
        "\(handler.route.name) does not say how its operation can be refused")
    }
  }

  @Test func parametersAreTaken() throws {
    let match = try router.match(method: "DELETE", path: path("/v1/servers/7/members/alice"))
    #expect(match.parameters == ["serverId": "7", "accid": "alice"])
  }

  @Test func fixedWordsGoBeforeParameters() throws {
    let problem = #expect(throws: Problem.self) {
      try router.match(method: "PATCH", path: path("/v1/notifications/stream/x"))
    }
    #expect(problem?.status == 404)
    #expect(try router.match(method: "GET", path: path("/v1/notifications/stream")).parameters.isEmpty)
    #expect(try router.match(method: "POST", path: path("/v1/notifications/read")).parameters.isEmpty)
  }

  @Test(arguments: [
    ("/", nil), ("/v1", nil), ("/v1/weather", nil), ("/v1/notification", "/v1/notifications"),
    ("/v1/server/12", "/v1/servers"), ("/v1/servers/12/nothing", nil),
  ])
  func aPathOfNothingLeadsToTheOthers(text: String, meant: String?) {
    let problem = #expect(throws: Problem.self) { try router.match(method: "GET", path: path(text)) }
    let hint = meant.map { "; perhaps \($0) is meant" } ?? ""
    #expect(
      problem?.detail == "there is nothing at this path; GET /openapi.json describes all\(hint)", "\(text)")
  }

  @Test func headIsAGetWithoutBody() throws {
    let match = try router.match(method: "HEAD", path: path("/healthz"))
    #expect(match.isHead)
    #expect(match.route.verb == .get)
  }

  @Test(arguments: [
    ("/", 404), ("/v1", 404), ("/v2/servers", 404), ("/v1/servers/", 404), ("/healthz/x", 404),
    ("/HEALTHZ", 404), ("", 404),
  ])
  func otherPathsAreNotFound(text: String, status: Int) {
    // The server passes a trailing slash as an empty segment.
    let path = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { UTF8Text($0) }
    let problem = #expect(throws: Problem.self) { try router.match(method: "GET", path: path) }
    #expect(problem?.status == status)
    #expect(problem?.code == "notFound")
  }

  @Test(arguments: ["PUT", "get", "TRACE", "", "OPTIONS"])
  func otherMethodsAreToldWhatIsAllowed(method: String) {
    let problem = #expect(throws: Problem.self) {
      try router.match(method: UTF8Text(method), path: path("/v1/servers"))
    }
    #expect(problem?.status == 405)
    #expect(problem?.allow == "GET, POST, HEAD, OPTIONS")
  }
}
