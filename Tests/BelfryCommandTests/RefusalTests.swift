import Foundation
import TestKit
import Testing

/// The output of a refusal on standard error, and the exit code of the command.
@Suite struct RefusalTests {
  @Test(arguments: [
    (503, "unknownOutcome", true), (500, "internal", true), (503, "unavailable", false), (503, "busy", false),
    (429, "rateLimited", false),
  ])
  func `a send that may have arrived says how to repeat it`(status: Int, code: String, mayBeSent: Bool) throws
  {
    let server = try ScriptedServer { _, _ in [.problem(status, code: code, detail: "later")] }
    let words = ["send", "--url", "\(server.url)", "--to", "bob", "--body", "x"]
    let outcome = try Executable().run(words)
    #expect(outcome.code == 1)
    let body = try #require(server.requests.first).body
    let sent = try #require(
      try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])["messageClientId"]
    let id = try #require(sent as? String)
    #expect(
      outcome.err.contains("it may have been sent: repeat the command with --client-id \(id),") == mayBeSent)
    let own = try Executable().run(words + ["--client-id", "mine"])
    #expect(own.err.contains("repeat the command with --client-id mine,") == mayBeSent)
  }

  @Test func `a broker that is not reached was sent nothing`() throws {
    let port = try ScriptedServer { _, _ in [] }.port
    for url in ["http://127.0.0.1:\(port)", "http://nobody.invalid"] {
      let outcome = try Executable().run("send", "--url", url, "--to", "bob", "--body", "x")
      #expect(outcome.code == 1)
      #expect(outcome.err.contains("\n  nothing was sent. Is a broker running there?"), "\(outcome.err)")
      #expect(!outcome.err.contains("may have been sent"))
    }
    let closing = try ScriptedServer { _, _ in [.reset] }
    let outcome = try Executable().run("send", "--url", "\(closing.url)", "--to", "bob", "--body", "x")
    #expect(outcome.err.contains("it may have been sent: repeat the command with --client-id"))
    #expect(!outcome.err.contains("nothing was sent"))
  }

  @Test(arguments: [
    (
      ["server", "update", "12", "--name", "x"], "only the owner may do this: change it",
      "member list shows the admins"
    ),
    (
      ["group", "update", "12", "--name", "x"], "only the owner or an admin may do this: x",
      "group show names"
    ),
    (["room", "delete", "12", "--yes"], "only the host may do this: delete it", "room show names the host"),
    (["stats"], "this needs an app or operator token", "on the broker's machine"),
    (
      ["send", "--to", "bob", "--body", "x", "--from", "carol"], "you cannot send as carol",
      "leave --from out"
    ),
  ])
  func `a user is not told to mint a token of a member's right`(
    words: [String], detail: String, advice: String
  ) throws {
    let server = try ScriptedServer { _, _ in [.problem(403, code: "forbidden", detail: detail)] }
    let claims = Data(#"{"sub":"bob","exp":9999999999}"#.utf8).base64EncodedString()
    let token = "e30." + claims.replacing("=", with: "") + ".x"
    let outcome = try Executable(token: token).run(words + ["--url", "\(server.url)"])
    #expect(outcome.err.contains(advice), "\(outcome.err)")
    #expect(outcome.err.contains("belfry token") == advice.contains("machine"))
  }

  @Test func `the command that mints a token is shown whole`() throws {
    for (detail, role) in [
      ("this needs an operator token", " --role operator --sub NAME mints"),
      ("this needs an app or operator token", " --role app --sub NAME mints"),
      ("the token needs the scope send", " --role app --sub NAME --scope SCOPE mints"),
    ] {
      let server = try ScriptedServer { _, _ in [.problem(403, code: "forbidden", detail: detail)] }
      let outcome = try Executable().run("stats", "--url", "\(server.url)")
      #expect(outcome.err.contains("\n  belfry token --data DIR\(role)"), "\(outcome.err)")
    }
  }

  /// To try again may do the work twice.
  @Test func `a change that may have been done is checked before it is repeated`() throws {
    let server = try ScriptedServer { _, _ in
      [.problem(503, code: "unknownOutcome", detail: "no answer came in time", headers: ["Retry-After: 1"])]
    }
    let change = try Executable().run("server", "create", "--name", "x", "--url", "\(server.url)")
    #expect(
      change.err.contains("\n  it may have been done: check before you repeat the command\n"), "\(change.err)"
    )
    let send = try Executable().run("send", "--to", "bob", "--body", "x", "--url", "\(server.url)")
    #expect(send.err.contains(", and it is sent only once\n"), "\(send.err)")
    for outcome in [change, send] { #expect(!outcome.err.contains("try again"), "\(outcome.err)") }
  }

  @Test func `a pause is advised once, with its length`() throws {
    for end in ["; try again", "; try again later", ""] {
      let server = try ScriptedServer { _, _ in
        [
          .problem(
            503, code: "unavailable", detail: "Redis cannot be reached\(end)", headers: ["Retry-After: 1"])
        ]
      }
      let outcome = try Executable().run("send", "--to", "bob", "--body", "x", "--url", "\(server.url)")
      #expect(outcome.err.contains("Redis cannot be reached\n  try again in 1 s, at "), "\(outcome.err)")
    }
  }

  @Test func `what asks only was not sent, so that it need not say so`() throws {
    let port = try ScriptedServer { _, _ in [] }.port
    for words in [["unread"], ["tail"], ["notification", "counts"], ["server", "show", "1"]] {
      let outcome = try Executable().run(words + ["--url", "http://127.0.0.1:\(port)"])
      #expect(outcome.err.contains("is a broker running there?"), "\(outcome.err)")
      #expect(!outcome.err.contains("nothing was sent"), "\(outcome.err)")
    }
  }

  @Test(arguments: [
    (["room", "step-down", "7", "bob"], 403, "notMember", "belfry room enter 7"),
    (["send", "--room", "7", "--body", "x"], 403, "notMember", "belfry room enter 7"),
    (["send", "--group", "7", "--body", "x"], 403, "notMember", "belfry server mine"),
    (["server", "approve", "7", "dav"], 404, "notFound", "belfry server applications 7"),
    (["group", "refuse", "7", "dav"], 404, "notFound", "belfry group applications 7"),
  ])
  func `advice names the place that the command was about`(
    words: [String], status: Int, code: String, advice: String
  ) throws {
    let server = try ScriptedServer { _, _ in [.problem(status, code: code, detail: "no")] }
    let outcome = try Executable().run(words + ["--url", "\(server.url)"])
    #expect(outcome.err.contains("\n  \(advice) "), "\(outcome.err)")
  }

  @Test func `times of refusals are shown as tables show them`() throws {
    let detail = "you are muted in this server until 2026-12-24T17:00:00.000Z"
    let muting = try ScriptedServer { _, _ in [.problem(403, code: "muted", detail: detail)] }
    let muted = try Executable().run("send", "--server", "1", "--body", "x", "--url", "\(muting.url)")
    #expect(muted.err.hasPrefix("belfry: muted: you are muted in this server until 2026-12-24 17:00:00\n"))
    let late = try ScriptedServer { _, _ in
      [
        .problem(
          400, code: "invalidField", detail: "must lie in the future, in milliseconds since 1970",
          at: "expireAt")
      ]
    }
    let words = ["send", "--to", "bob", "--body", "x", "--expire-at", "2020-01-01 00:00"]
    let expired = try Executable().run(words + ["--url", "\(late.url)"])
    #expect(expired.err == "belfry: invalidField: --expire-at must lie in the future\n")
  }

  @Test func `a user's token that names another account is told to leave it out`() throws {
    let words = ["send", "--to", "bob", "--body", "x", "--as", "bob", "--url"]
    let detail = "a user's token acts for its own account only"
    let forbidding = try ScriptedServer { _, _ in
      [.problem(403, code: "forbidden", detail: detail, at: "Belfry-Account")]
    }
    let forbidden = try Executable().run(words + ["\(forbidding.url)"])
    #expect(forbidden.err.contains("leave --as out") && !forbidden.err.contains("name the account"))
    let asking = try ScriptedServer { _, _ in
      [.problem(400, code: "invalidField", detail: "is needed", at: "Belfry-Account")]
    }
    #expect(try Executable().run(words + ["\(asking.url)"]).err.contains("name the account with --as ACCID"))
  }

  @Test func `a path in the URL and a wrong file of authorities are named as the cause`() throws {
    let server = try ScriptedServer { _, _ in
      [.problem(404, code: "notFound", detail: "there is nothing at this path")]
    }
    let prefixed = try Executable().run("server", "list", "--url", "\(server.url)/prefix")
    #expect(prefixed.err.contains("does --url have a path?"), "\(prefixed.err)")
    let authorities = try Executable().run(
      "server", "list", "--url", "https://127.0.0.1:\(server.port)", "--ca", "/none")
    #expect(authorities.err.contains("a file of certificates in PEM"), "\(authorities.err)")
    #expect(!authorities.err.contains("is a broker running there"))
  }

  @Test func `a server that is not Belfry is the wrong URL for every command`() throws {
    let server = try ScriptedServer { _, _ in [.answer(404, "<html>", type: "text/html")] }
    for words in [["unread"], ["tail"], ["server", "list"], ["send", "--to", "bob", "--body", "x"]] {
      let outcome = try Executable().run(words + ["--url", "\(server.url)"])
      #expect(outcome.err.contains("does --url name a Belfry broker?"), "\(outcome.err)")
    }
  }

  @Test func `a port that is taken is known before a Redis is started`() throws {
    let server = try ScriptedServer { _, _ in [] }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("belfry-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let outcome = try Executable(token: nil).run(
      "serve", "--listen", "127.0.0.1:\(server.port)", "--data", folder.path)
    #expect(outcome.code == 1)
    #expect(outcome.err.contains("cannotListen") && outcome.err.contains("--listen HOST:PORT"))
    #expect(!(outcome.out + outcome.err).contains("redis-server started"))
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }

  @Test func `a wrong field is called by its option`() throws {
    let server = try ScriptedServer { _, _ in
      [.problem(400, code: "invalidField", detail: "must be https", at: "url")]
    }
    let outcome = try Executable().run("webhook", "update", "1", "--url", "\(server.url)", "--link", "foo")
    #expect(outcome.err.hasPrefix("belfry: invalidField: --link must be https\n"), "\(outcome.err)")
  }

  @Test(arguments: [
    (["send", "--to", "bob", "--body", "x"], "toAccids[0]", "must not be bob", "--to[0] must not be bob"),
    (
      ["send", "--to", "bob", "--body", "x"], "body", "is needed without messageClientId",
      "--body is needed without --client-id"
    ),
    (["server", "ban", "12", "bob"], "accids[0]", "is the owner", "ACCID[0] is the owner"),
    (
      ["notification", "update", "7", "--body", "x"], "messageServerId", "there is no such",
      "there is no such (MESSAGE)"
    ),
    (
      ["account", "prefer", "--level", "all"], "preferences[3].until", "must lie ahead",
      "--until must lie ahead"
    ),
    (["server", "list"], "someField", "needs otherField", "someField needs otherField"),
    (
      ["send", "--to", "bob", "--body", "x", "--expire-at", "3h"], "expireAt",
      "cannot be combined with setting.persistEnable false: such a notification is not stored",
      "--expire-at cannot be combined with --live-only: such a notification is not stored"
    ),
    (
      ["send", "--to", "bob", "--body", "x"], "setting.pushEnable", "must be true or false",
      "--push must be true or false"
    ),
    (
      ["tail"], "Last-Event-ID", "is not a cursor that Belfry gave",
      "--after is not a cursor that Belfry gave"
    ),
    (
      ["tail", "--socket"], "after", "is not a cursor that Belfry gave",
      "--after is not a cursor that Belfry gave"
    ),
  ])
  func `every field has the name that a user gives it`(
    words: [String], field: String, detail: String, said: String
  ) throws {
    let server = try ScriptedServer { request, _ in
      request.method == "GET" && request.target.hasSuffix("preferences")
        ? [.answer(200, #"{"preferences":[]}"#)]
        : [.problem(400, code: "invalidField", detail: detail, at: field)]
    }
    let outcome = try Executable().run(words + ["--url", "\(server.url)"])
    #expect(outcome.err.hasPrefix("belfry: invalidField: \(said)\n"), "\(outcome.err)")
  }

  @Test(arguments: [
    (#"{"delivered":true,"status":204}"#, Int32(0)), (#"{"delivered":false,"status":500}"#, 1),
  ])
  func `a webhook's test that did not arrive is 1`(answer: String, code: Int32) throws {
    let server = try ScriptedServer { _, _ in [.answer(200, answer)] }
    let outcome = try Executable().run("webhook", "test", "1", "--url", "\(server.url)")
    #expect(outcome.code == code)
    #expect(outcome.out.contains("delivered"))
    #expect(outcome.err.hasPrefix("belfry: notDelivered: ") == (code == 1))
  }

  @Test(arguments: [
    ["--listen", "8181"], ["--loops", "0"], ["--partitions", "60"], ["--redis", "localhost:6379"],
  ])
  func `an option that no broker starts with is 2`(option: [String]) throws {
    let outcome = try Executable().run(["serve"] + option)
    #expect(outcome.code == 2)
    #expect(outcome.err.contains("invalidValue: \(option[0]): "), "\(outcome.err)")
  }
}

extension Step {
  /// A refusal that blames a field.
  fileprivate static func problem(_ status: Int, code: String, detail: String, at field: String) -> Self {
    answer(
      status,
      #"{"status":\#(status),"title":"Refused","detail":"\#(detail)","code":"\#(code)","field":"\#(field)"}"#,
      type: "application/problem+json")
  }
}
