import BelfryModel
import Foundation
import TestKit
import Testing

/// Finding a broker, sending requests to it, and reporting its refusals.
@Suite(.timeLimit(.minutes(2))) struct AskingTests {
  private static let receipt =
    #"{"messageServerId":"7","messageClientId":"m","time":1767981731000,"duplicate":false}"#

  @Test func `the version is one`() throws {
    for words in [["--version"], ["-V"], ["version"]] {
      #expect(try Executable(token: nil).run(words).out == "belfry \(BelfryVersion.text)\n")
    }
    #expect(
      try Executable(token: nil).run("version", "--json").out == #"{"version":"\#(BelfryVersion.text)"}"#
        + "\n")
  }

  @Test func `BELFRY_URL says where the broker is, and --url goes before it`() throws {
    let server = try ScriptedServer { _, _ in [.answer(200, "{}")] }
    var executable = Executable()
    executable.environment["BELFRY_URL"] = "\(server.url)"
    #expect(try executable.run("stats").code == 0)
    executable.environment["BELFRY_URL"] = "nowhere"
    #expect(try executable.run("stats").err.contains("BELFRY_URL must begin with"))
    #expect(try executable.run("stats", "--url", "\(server.url)").code == 0)
    #expect(server.requests.count == 2)
  }

  @Test(arguments: [
    ("forbidden", 403, "this needs an operator token", "--role operator"),
    ("forbidden", 403, "only the owner may delete the server", "--role app"),
    ("muted", 403, "alice is muted", "when its time is up"),
    (
      "muted", 403, "everybody is muted in this group; only the owner may send",
      "belfry group unmute-all ends it"
    ),
    ("banned", 403, "alice is banned", "can lift the ban"),
    ("notMember", 403, "you are no member", "server mine and belfry group mine"),
    ("unauthorized", 401, "expired", "belfry token"),
  ])
  func `under a refusal stands what to do about it`(code: String, status: Int, detail: String, advice: String)
    throws
  {
    let server = try ScriptedServer { _, _ in [.problem(status, code: code, detail: detail)] }
    let outcome = try Executable().run("stats", "--url", "\(server.url)")
    #expect(outcome.code == 1)
    let lines = outcome.err.split(separator: "\n")
    #expect(lines.count == 2 && lines.last?.contains(advice) == true, "\(outcome.err)")
  }

  @Test(arguments: [
    ("must be at most 4096 bytes", "body", "invalidField: body must be at most 4096 bytes\n"),
    ("you cannot send so", "fromAccount", "invalidField: you cannot send so (fromAccount)\n"),
    ("is no cursor", "Last-Event-ID", "--after takes a cursor"),
  ])
  func `a field that is to blame is named in the sentence`(detail: String, field: String, said: String) throws
  {
    let body = #"{"status":400,"title":"x","detail":"\#(detail)","code":"invalidField","field":"\#(field)"}"#
    let server = try ScriptedServer { _, _ in [.answer(400, body, type: "application/problem+json")] }
    let outcome = try Executable().run("stats", "--url", "\(server.url)")
    #expect(outcome.err.contains(said), "\(outcome.err)")
  }

  @Test func `of what nobody may do no other token is advised`() throws {
    let server = try ScriptedServer { _, _ in
      [.problem(403, code: "forbidden", detail: "the owner cannot leave; hand the server over or delete it")]
    }
    #expect(try !Executable().run("stats", "--url", "\(server.url)").err.contains("belfry token"))
  }

  @Test func `too many requests are told when to come back`() throws {
    let server = try ScriptedServer { _, _ in
      [.problem(429, code: "rateLimited", detail: "slower", headers: ["Retry-After: 30"])]
    }
    let outcome = try Executable().run("stats", "--url", "\(server.url)")
    #expect(outcome.code == 1)
    #expect(outcome.err.contains(#/try again in 30 s, at \d\d:\d\d:\d\d\n/#), "\(outcome.err)")
  }

  // MARK: Requests

  @Test func `groups, rooms and what stands on standard input are sent to`() throws {
    let server = try ScriptedServer { _, _ in [.answer(201, Self.receipt)] }
    let send = ["send", "--url", "\(server.url)", "--client-id", "m"]
    #expect(try Executable().run(send + ["--group", "56", "--body", "hi", "--to", "bob"]).code == 0)
    #expect(try Executable().run(send + ["--room", "78", "--attach", "{}"]).code == 0)
    #expect(try Executable().run(send + ["--room", "78", "--body", "-"], input: "from\nthere\n").code == 0)
    #expect(
      server.requests.map(\.body) == [
        #"{"body":"hi","groupId":"56","messageClientId":"m","toAccids":["bob"]}"#,
        #"{"attach":{},"messageClientId":"m","roomId":"78"}"#,
        #"{"body":"from\nthere","messageClientId":"m","roomId":"78"}"#,
      ])
    for input in ["", "\n"] {
      let outcome = try Executable().run(send + ["--room", "78", "--body", "-"], input: input)
      #expect(outcome.code == 2)
      #expect(outcome.err.contains("--body is needed"))
    }
    for input in [String(repeating: "x", count: Limits.bodyBytes + 1), String(repeating: "\n", count: 9_999)]
    {
      #expect(
        try Executable().run(send + ["--room", "78", "--body", "-"], input: input).err.contains(
          "at most 4096"))
    }
    #expect(server.requests.count == 3)
    let longest = String(repeating: "x", count: Limits.bodyBytes) + "\n"
    #expect(try Executable().run(send + ["--room", "78", "--body", "-"], input: longest).code == 0)
  }
}
