import Foundation
import TestKit
import Testing

/// What those ask who run a broker.
@Suite(.timeLimit(.minutes(2))) struct OperatorCommandTests {
  @Test func `why somebody sees something or not is told in sentences`() throws {
    let explanation =
      #"{"visible":false,"reason":"read","detail":"bob marked it read.","facts":{"sentAt":1767981731000,"#
      + #""space":"server:12","audience":"subscribed channel:77 +carol,dave","memberSince":1767981730000,"#
      + #""subscribedSince":1767981730500,"named":false,"read":true,"weather":"fine"}}"#
    let server = try ScriptedServer { _, _ in [.answer(200, explanation)] }
    for words in [["7", "--account", "bob"], ["--message", "7", "--account", "bob"]] {
      let outcome = try Executable().run(["explain"] + words + ["--url", "\(server.url)"])
      #expect(
        outcome.out == """
          bob does not see 7: bob marked it read.
          It was sent at 2026-01-09 18:02:11 to server 12, stamped "subscribed channel:77 +carol,dave": for subscribers \
          of channel 77, and for carol, dave.
          bob has been a member since 2026-01-09 18:02:10, subscribed at 2026-01-09 18:02:10, is not named in it and has \
          marked it read.
          weather  fine

          """)
      #expect(server.requests.last?.target == "/v1/notifications/7/explain?account=bob")
    }
    let json = try Executable().run("explain", "7", "--account", "bob", "--json", "--url", "\(server.url)")
    #expect(json.out == (try ExecutableTests.sorted(explanation)))
  }

  @Test func `the audit record is a table of what was done since a time`() throws {
    let entry =
      #"{"time":1767981731000,"caller":"office","role":"app","account":"bob","operation":"server create","#
      + #""target":"made=/v1/servers/12","status":201}"#
    let server = try ScriptedServer { _, _ in [.answer(200, #"{"entries":[\#(entry)],"cursor":null}"#)] }
    let words = ["audit", "--account", "bob", "--url", "\(server.url)", "--since"]
    #expect(
      try Executable().run(words + ["2026-01-09T00:00:00Z"]).out == """
        TIME                 CALLER  OPERATION      TARGET               ACCOUNT  STATUS
        2026-01-09 18:02:11  office  server create  made=/v1/servers/12  bob      201

        """)
    #expect(server.requests.last?.target == "/v1/audit?since=1767916800000&account=bob&limit=100")
    let before = Int64(Date().timeIntervalSince1970 * 1_000) - 86_400_000
    #expect(try Executable().run(words + ["24h"]).code == 0)
    let since = try #require(server.requests.last?.target.firstMatch(of: #/since=(\d+)/#)?.1)
    #expect((before...before + 60_000).contains(try #require(Int64(since))))
  }
}
