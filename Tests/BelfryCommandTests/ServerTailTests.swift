import Foundation
import TestKit
import Testing

/// `tail --server` shows operators the log of a server.
@Suite(.timeLimit(.minutes(2))) struct ServerTailTests {
  private static func entry(_ id: Int, _ event: String = "notification") -> String {
    let notification =
      #","notification":{"messageServerId":"\#(id)","time":1767981731000,"type":100,"toType":4,"serverId":"12","#
      + #""channelId":"34","toAccids":["bob"],"fromAccount":"alice","body":"hello"}"#
    return
      #"{"event":"\#(event)","messageServerId":"\#(id)","audience":"named +bob,carol","cursor":"e\#(id)""#
      + (event == "retracted" ? "" : notification) + "}"
  }

  private static func page(_ entries: [String], _ cursor: String, _ rest: String = "") -> String {
    #"{"entries":[\#(entries.joined(separator: ","))],"cursor":"\#(cursor)"\#(rest)}"#
  }

  @Test func `it begins with the last entries, follows the cursor, and tells of gaps`() throws {
    let pages = [
      Self.page([Self.entry(7)], "c1"), Self.page([], "c2"),
      Self.page([Self.entry(5, "retracted"), Self.entry(9)], "c3", #","gap":{"from":"7","to":"8"}"#),
    ]
    let server = try ScriptedServer { _, number in [.answer(200, pages[min(number, pages.count) - 1])] }
    let outcome = try Executable().run("tail", "--server", "12", "--count", "3", "--url", "\(server.url)")
    #expect(outcome.code == 0)
    let lines = outcome.out.split(separator: "\n")
    try #require(lines.count == 3, "\(outcome.out)")
    #expect(
      lines[0] == "2026-01-09 18:02:11  7  server 12 channel 34  custom  alice  hello  for bob, carol")
    #expect(lines[1].hasSuffix("  recalled 5"))
    #expect(
      lines[2] == "2026-01-09 18:02:11  9  server 12 channel 34  custom  alice  hello  for bob, carol")
    #expect(outcome.err == "belfry: entries between 7 and 8 may be missing\n")
    #expect(
      server.requests.map(\.target) == [
        "/v1/servers/12/log?limit=500&last=3", "/v1/servers/12/log?limit=500&after=c1",
        "/v1/servers/12/log?limit=500&after=c2",
      ])
  }

  @Test func `a program gets the audience and the cursor of each entry`() throws {
    let answer = Self.page([Self.entry(7), Self.entry(5, "retracted"), Self.entry(9)], "c1")
    let server = try ScriptedServer { _, _ in [.answer(200, answer)] }
    let outcome = try Executable().run(
      "tail", "--server", "12", "--json", "--count", "3", "--after", "c0", "--url", "\(server.url)")
    let lines = outcome.out.split(separator: "\n")
    try #require(lines.count == 3, "\(outcome)")
    #expect(lines[0].hasPrefix(#"{"audience":"named +bob,carol","cursor":"e7","data":{"body":"hello""#))
    #expect(lines[0].hasSuffix(#""event":"notification"}"#))
    #expect(
      lines[1]
        == #"{"audience":"named +bob,carol","cursor":"e5","data":{"messageServerId":"5"},"event":"retracted"}"#
    )
    #expect(server.requests.map(\.target) == ["/v1/servers/12/log?limit=500&after=c0"])
  }

  @Test func `a recall alone is an entry, too`() throws {
    let server = try ScriptedServer { _, _ in [.answer(200, Self.page([Self.entry(5, "retracted")], "c1"))] }
    let outcome = try Executable().run("tail", "--server", "12", "--count", "1", "--url", "\(server.url)")
    #expect(outcome.code == 0)
    #expect(outcome.out.hasSuffix("  recalled 5\n"))
    #expect(server.requests.count == 1)
  }

  @Test func `it waits for a broker that goes away, and ends if it is refused`() throws {
    let server = try ScriptedServer { _, number in
      switch number {
      case 1: [.answer(200, Self.page([], "c1"))]
      case 2: [.problem(503, code: "unavailable", detail: "Redis is away", headers: ["Retry-After: 1"])]
      case 3: [.answer(200, Self.page([Self.entry(9)], "c2"))]
      default: [.problem(404, code: "notFound", detail: "there is no server 12")]
      }
    }
    let outcome = try Executable().run("tail", "--server", "12", "--url", "\(server.url)")
    #expect(outcome.code == 1)
    #expect(outcome.out.contains("  hello  "))
    #expect(
      outcome.err == """
        belfry: connected; nothing new in the log yet
        belfry: Redis is away; trying again
        belfry: connected again
        belfry: notFound: there is no server 12

        """)
  }

  @Test(arguments: [["--as", "bob"], ["--counts"], ["--socket"]])
  func `options of an account's feed are refused`(words: [String]) throws {
    let outcome = try Executable().run(["tail", "--server", "12"] + words)
    #expect(outcome.code == 2)
    #expect(outcome.err.contains("\(words[0]) is about an account's feed"), "\(outcome.err)")
    #expect(outcome.err.contains("cannot be combined with --server"))
  }
}
