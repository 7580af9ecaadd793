import BelfryModel
import Testing

@testable import BelfryServer

/// An account that joins and leaves many times keeps the notifications of each stay until it reads them.
@Suite struct ComingAndGoingTests {
  @Test func whatWasSentInTheFirstStayIsStillThereAfterTheLastThatIsRemembered() async throws {
    try await withBroker { broker in
      let server = try broker.makeServer(owner: "alice")
      let (alice, app) = (try broker.token("alice"), try broker.token("app", .app))
      let connection = try broker.connect()
      func add(_ accids: String) throws -> Answer {
        try connection.ask("POST", "/v1/servers/\(server)/members", as: app, #"{"accids":[\#(accids)]}"#)
      }
      for stay in 1...Intervals.limit {
        #expect(try add(#""bob""#).status == 200)
        let body = #"{"serverId":"\#(server)","body":"stay \#(stay)"}"#
        #expect(try connection.ask("POST", "/v1/notifications", as: alice, body).status == 201)
        #expect(try connection.ask("DELETE", "/v1/servers/\(server)/members/bob", as: app).status == 204)
      }
      let refused = try add(#""carol","bob""#)
      #expect(refused.status == 422)
      #expect(refused.code == "tooMany")
      #expect(refused.json["detail"]?.text?.contains("bob has been in server") == true)
      // Nothing is half done.
      #expect(try connection.ask("GET", "/v1/servers/\(server)/members/carol", as: alice).status == 404)

      let page = try connection.ask("GET", "/v1/notifications?limit=500", as: try broker.token("bob"))
      let bodies = (page.json["notifications"]?.elements ?? []).compactMap { $0["body"]?.text }
      #expect(bodies == (1...Intervals.limit).map { "stay \($0)" })
    }
  }
}
