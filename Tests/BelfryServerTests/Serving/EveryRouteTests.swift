import BelfryModel
import Testing

@testable import BelfryInterface
@testable import BelfryServer

/// Calls every route once, with everything it declares. The answer must follow the document, and the handler
/// must not read a value that the route does not declare, which would give a 503.
@Suite struct EveryRouteTests {
  @Test func answersAsTheDocumentSays() async throws {
    try await withBroker(configure: { $0.browsers.givesCookies = true }) { broker in
      let app = try broker.token("app", .app)
      for route in Routes.all {
        if route.isStream { continue }
        let operation = OpenAPIDocument.value["paths"]?[route.path.description]?[
          route.verb.rawValue.lowercased()]
        let content = operation?["requestBody"]?["content"]
        let body = content?["application/json"]?["example"]
        let answer = try broker.ask(
          route.verb.rawValue, path(of: route), as: app,
          body.map { String(decoding: JSONText.bytes(of: $0), as: UTF8.self) },
          headers: [("Belfry-Account", "alice"), ("Belfry-Device", "phone")])
        #expect(answer.status != 503, "\(route.verb) \(route.path): \(answer.body)")
      }
    }
  }

  private func path(of route: Route) -> String {
    var path = route.path.description
    for property in route.pathProperties {
      path = path.replacing("{\(property.name)}", with: Self.text(property))
    }
    let query = route.queryProperties.filter {
      $0.name != "after" && $0.name != "cursor" && $0.name != "wait"
    }
    return path + (query.isEmpty ? "" : "?")
      + query.map { "\($0.name)=\(Self.text($0))" }.joined(separator: "&")
  }

  private static func text(_ property: Property) -> String {
    switch property.shape.example {
    case .string(let text): text
    case .integer(let number): "\(number)"
    case .bool(let flag): "\(flag)"
    default: "x"
    }
  }
}
