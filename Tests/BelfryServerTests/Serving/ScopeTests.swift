import BelfryModel
import Foundation
import Testing

@testable import BelfryInterface
@testable import BelfryServer

@Suite struct ScopeTests {
  private func token(
    _ broker: TestBroker, _ role: TokenClaims.Role, _ scopes: Set<Scope>?, subject: String = "ops"
  ) -> String {
    broker.broker.keys.signing.mint(
      TokenClaims(subject: subject, role: role, scopes: scopes, expiresAtSeconds: 4_102_444_800))
  }

  @Test func everyRouteIsRefusedWithoutItsScope() async throws {
    try await withBroker { broker in
      let connection = try broker.connect()
      for route in Routes.all where route.access.needsToken {
        let path = route.path.parameters.reduce(into: route.path.description) { path, name in
          path = path.replacing("{\(name)}", with: "1")
        }
        for scope in Scope.allCases {
          if scope == route.scope, route.isStream { continue }
          let answer = try connection.ask(
            route.verb.rawValue, path, as: token(broker, .operation, [scope]),
            route.body.form == .none ? nil : "{}",
            headers: [("Belfry-Account", "nobody")]
              + (route.body.form == .lines ? [("Content-Type", "application/x-ndjson")] : []))
          let detail = answer.json["detail"]?.text ?? ""
          let isRefused =
            answer.status == 403 && detail.contains("this needs the scope \(route.scope.rawValue)")
          #expect(
            isRefused == (scope != route.scope), "\(route.name) with \(scope): \(answer.status) \(detail)")
        }
      }
    }
  }

  @Test func whatIsReadChangesNothing() {
    let reading = Routes.all.filter { $0.scope == .read && $0.verb != .get }.map(\.name)
    // The routes that give access by other means than a token.
    #expect(reading == ["notification ticket", "session begin"])
    let sending = Routes.all.filter { $0.scope == .send }.map(\.name)
    #expect(
      sending == [
        "notification send", "notification resend", "notification batch", "notification update",
        "notification recall",
      ])
  }

  @Test func theDocumentNamesEachScope() throws {
    for route in Routes.all where route.access.needsToken {
      let operation = OpenAPIDocument.value["paths"]?[route.path.description]?[
        route.verb.rawValue.lowercased()]
      // If the token may come later, the first way is the one without a token.
      let ways = operation?["security"]?.elements ?? []
      let bearer: JSONValue = ["bearerAuth": [.string(route.scope.rawValue)]]
      let later: [JSONValue] = route.access == .tokenLater ? [[:]] : []
      #expect(ways == later + [bearer] + (route.options.takesTicket ? [["ticket": []]] : []))
    }
  }

  @Test func whoIsNarrowedByWhat() async throws {
    try await withBroker { broker in
      let expected: [(TokenClaims.Role, Set<Scope>?, Int)] = [
        (.user, nil, 200), (.app, nil, 200), (.operation, nil, 200), (.app, [], 403), (.operation, [], 403),
        (.app, [.send, .manage], 403), (.app, [.send, .read], 200), (.user, [.send], 403),
        // A user's token of an issuer with its own scopes.
        (.user, [], 200),
      ]
      for (role, scopes, status) in expected {
        let answer = try broker.ask("GET", "/v1/types", as: token(broker, role, scopes, subject: "alice"))
        #expect(answer.status == status, "\(role) \(String(describing: scopes))")
      }
    }
  }

  @Test(
    arguments: [
      ("openid read profile", [.read]), ("send  manage", [.send, .manage]), ("", []), ("READ", []),
      ("read,send", []),
    ] as [(String, Set<Scope>)])
  func claimsAreWords(text: String, scopes: Set<Scope>) {
    #expect(Scope.named(in: text) == scopes)
  }

  @Test func aScopeThatIsNoTextIsRefused() {
    let claims: JSONValue = ["sub": "x", "exp": 4_102_444_800, "role": "app", "scope": ["read"]]
    #expect(throws: TokenError.self) { try TokenClaims(payload: claims, nowSeconds: 0) }
  }
}
