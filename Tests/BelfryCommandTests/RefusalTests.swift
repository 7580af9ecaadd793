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

  @Test func `a port that is taken is known before a Redis is started`() throws {
    let server = try ScriptedServer { _, _ in [] }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("belfry-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let outcome = try Executable(token: nil).run(
      "serve", "--listen", "127.0.0.1:\(server.port)", "--data", folder.path)
    #expect(outcome.code == 1)
    #expect(outcome.err.contains("cannotListen") && outcome.err.contains("--listen HOST:PORT"))
    #expect(!(outcome.out + outcome.err).contains("redis-server started"))
  }

  @Test func `a wrong field is called by its option`() throws {
    let server = try ScriptedServer { _, _ in
      [.problem(400, code: "invalidField", detail: "must be https", at: "url")]
    }
    let outcome = try Executable().run("webhook", "update", "1", "--url", "\(server.url)", "--link", "foo")
    #expect(outcome.err.hasPrefix("belfry: invalidField: --link must be https\n"), "\(outcome.err)")
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
