import TestKit
import Testing

/// The tests' own server survives what it is there to play.
@Suite struct FixtureTests {
  /// The server closes the connection after QUIT, mostly before the next command is written. That must be an error of the
  /// command, and not the end of all tests.
  @Test func aConnectionThatTheServerClosesIsAnError() async throws {
    try await withRedisServer { server in
      for _ in 0..<50 {
        let reply = try? server.transaction(["QUIT"], ["PING"], ["PING"])
        #expect(reply == nil)
      }
      let answer = try server.command("PING")
      #expect(answer == "PONG")
    }
  }
}
