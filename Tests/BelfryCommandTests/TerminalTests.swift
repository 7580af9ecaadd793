import BelfryClient
import Foundation
import TestKit
import Testing

@testable import belfry

@Suite(.timeLimit(.minutes(2))) struct TerminalTests {
  private static func unread() throws -> ScriptedServer {
    let notification =
      #"{"messageServerId":"382947191213498368","time":1767981731000,"type":100,"toType":1,"#
      + #""serverId":"3849200285743151439","fromAccount":"alice","body":"\#(String(repeating: "bells ", count: 40))"}"#
    return try ScriptedServer { _, _ in
      [.answer(200, #"{"notifications":[\#(notification)],"cursor":"1.a"}"#)]
    }
  }

  @Test(arguments: [80, 100, 140])
  func `what is unread fits the terminal, and nothing of it is cut`(columns: Int) throws {
    let server = try Self.unread()
    let screen = try TerminalSession.run(
      ["unread", "--url", "\(server.url)"], columns: UInt16(columns), environment: ["NO_COLOR": "1"])
    #expect(screen.code == 0)
    #expect(screen.lines.allSatisfy { VisibleText.columns($0) <= columns }, "\(screen.text)")
    let row = "382947191213498368  2026-01-09 18:02:11  server 3849200285743151439  custom"
    #expect(
      screen.lines.prefix(columns == 80 ? 4 : 2)
        == (columns == 80
          ? ["ID  TIME  SPACE  TYPE  FROM", "  BODY", row, "  alice"]
          : [
            "ID                  TIME                 SPACE                       TYPE    FROM   BODY",
            row + "  alice",
          ]))
    let body = screen.lines.filter { $0.contains("bells") }
    #expect(body.allSatisfy { $0.hasPrefix("  bells") })
    #expect(body.joined().split(separator: " ").count == 40)
  }

  @Test func `COLUMNS goes before what the terminal says`() throws {
    let server = try Self.unread()
    let screen = try TerminalSession.run(
      ["unread", "--url", "\(server.url)"], columns: 80, environment: ["COLUMNS": "60", "NO_COLOR": "1"])
    #expect(screen.lines.allSatisfy { VisibleText.columns($0) <= 60 }, "\(screen.text)")
  }

  @Test func `nothing is cut in a pipe`() throws {
    let server = try Self.unread()
    var executable = Executable()
    executable.environment["COLUMNS"] = "80"
    let outcome = try executable.run("unread", "--url", "\(server.url)")
    #expect(outcome.out.contains(String(repeating: "bells ", count: 39)))
    #expect(!outcome.out.contains("\u{1b}"))
  }

  @Test func `colour is for terminals that take it, and for who wants it`() throws {
    let server = try Self.unread()
    func text(_ environment: [String: String]) throws -> String {
      try TerminalSession.run(["unread", "--url", "\(server.url)"], environment: environment).text
    }
    #expect(try text([:]).contains("\u{1b}[1m382947191213498368 "))
    #expect(try text(["NO_COLOR": ""]).contains("\u{1b}["))
    for none in [["NO_COLOR": "1"], ["TERM": "dumb"], ["TERM": ""]] {
      #expect(try !text(none).contains("\u{1b}["), "\(none)")
    }
  }

  // MARK: Asking

  /// A data folder in which one secret signs and another one, whose name is given, can be retired.
  private func withSecrets(_ body: (String, _ kid: String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("belfry-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("secrets"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    for (name, character) in [("secret", "a"), ("secrets/old", "b")] {
      let made = FileManager.default.createFile(
        atPath: folder.appendingPathComponent(name).path,
        contents: Data(String(repeating: character, count: 64).utf8), attributes: [.posixPermissions: 0o600])
      try #require(made)
    }
    try body(folder.path, "old")
  }

  @Test(arguments: [
    ("n\n", false), ("\n", false), ("perhaps\n", false), ("\u{4}", false), ("y\n", true), ("YES\n", true),
  ])
  func `what is for good is asked about on a terminal`(typed: String, isDone: Bool) throws {
    try withSecrets { folder, kid in
      let screen = try TerminalSession.run(["secret", "retire", kid, "--data", folder], typed: typed)
      #expect(
        screen.text.contains("for good, and refuse all tokens that it has signed? [y/N] "), "\(screen.text)")
      #expect(screen.code == (isDone ? 0 : 1))
      #expect(FileManager.default.fileExists(atPath: folder + "/secrets/old") == !isDone)
      #expect(screen.text.contains("nothing was changed") == !isDone)
    }
  }

  @Test func `where nobody can be asked it is refused, unless --yes says so`() throws {
    try withSecrets { folder, kid in
      var executable = Executable()
      executable.environment["BELFRY_DATA"] = folder
      #expect(try executable.run("secret", "list", "--json").out.split(separator: "\n").count == 2)
      let refused = try executable.run("secret", "retire", kid)
      #expect(refused.code == 2)
      #expect(refused.err.contains("perhaps: --yes"))
      #expect(FileManager.default.fileExists(atPath: folder + "/secrets/old"))
      #expect(try Executable().run("secret", "retire", kid, "--data", folder, "--yes").code == 0)
      #expect(!FileManager.default.fileExists(atPath: folder + "/secrets/old"))
    }
  }

  @Test func `a question names what an id means`() throws {
    let server = try ScriptedServer { request, _ in
      request.method == "GET" ? [.answer(200, #"{"serverId":"12","name":"Campfire"}"#)] : [.answer(204)]
    }
    let words = ["server", "delete", "12", "--url", "\(server.url)"]
    let screen = try TerminalSession.run(words, typed: "y\n")
    #expect(screen.text.contains("Delete for good: server 12 (Campfire)? [y/N] "), "\(screen.text)")
    // Typing in advance leaves no echo here, so the answer follows the question.
    #expect(
      screen.lines.last?.hasSuffix("deleted the server: server 12 (Campfire)") == true, "\(screen.text)")
    #expect(try Executable().run(words + ["--yes"]).out == "deleted the server: server 12\n")
    #expect(server.requests.map(\.method) == ["GET", "DELETE", "DELETE"])
  }

  @Test func `an explanation breaks between words`() throws {
    let explanation =
      #"{"visible":true,"reason":"all","detail":"It went to everybody of the server.","facts":{}}"#
    let server = try ScriptedServer { _, _ in [.answer(200, explanation)] }
    let screen = try TerminalSession.run(
      ["explain", "7", "--account", "bob", "--url", "\(server.url)"], columns: 30)
    #expect(screen.lines == ["bob sees 7: it went to", "everybody of the server."])
  }

  // MARK: Progress

  @Test func `progress is one line that is written over, and gone at the end`() throws {
    // Nobody listens there, so the command ends while it connects.
    let words = ["backup", "--redis", "redis://127.0.0.1:1", "/tmp/belfry-none-\(UUID().uuidString)"]
    let screen = try TerminalSession.run(words)
    #expect(screen.code == 1)
    #expect(
      screen.text.hasPrefix("\rasking redis://127.0.0.1:1 for a snapshot\u{1b}[K\r\u{1b}[Kbelfry: "),
      "\(screen.text)")
    let piped = try Executable().run(words)
    #expect(piped.err.hasPrefix("belfry: "), "\(piped.err)")
    let dumb = try TerminalSession.run(words, environment: ["TERM": "dumb"])
    #expect(dumb.text.hasPrefix("belfry: "), "\(dumb.text)")
  }

  @Test func `many members are added with progress`() throws {
    let server = try ScriptedServer { _, _ in [.answer(200, #"{"added":[]}"#)] }
    let words = ["member", "add", "12"] + (0...1_000).map { "a\($0)" } + ["--url", "\(server.url)"]
    let screen = try TerminalSession.run(words)
    #expect(screen.text.hasPrefix("\r1000 of 1001 accounts\u{1b}[K\r\u{1b}[K"), "\(screen.text)")
    #expect(try Executable().run(words).err.isEmpty)
  }

  @Test func `a list that comes whole fits the terminal, too`() throws {
    let name = String(repeating: "bells ", count: 30)
    let key =
      #"{"keyId":"382947191213498368","name":"\#(name)","createdAt":1767981731000,"createdBy":"root"}"#
    let server = try ScriptedServer { _, _ in [.answer(200, #"{"keys":[\#(key)]}"#)] }
    let screen = try TerminalSession.run(
      ["key", "list", "--url", "\(server.url)"], columns: 100, environment: ["NO_COLOR": "1"])
    #expect(screen.lines.count == 2)
    #expect(screen.lines.allSatisfy { VisibleText.columns($0) <= 100 }, "\(screen.text)")
    #expect(screen.lines.last?.contains("382947191213498368") == true)
  }

  @Test func `what happens to a tail's connection is a remark, and an event for programs`() throws {
    let server = try ScriptedServer { _, number in
      number % 2 == 1
        ? [
          .stream,
          .chunk("retry: 1\n\nevent: kicked\ndata: {\"reason\":\"shutdown\",\"retry\":true}\n\n"),
        ]
        : [.stream, .chunk("event: kicked\ndata: {\"reason\":\"ended\",\"retry\":false}\n\n"), .hold]
    }
    let outcome = try Executable().run("tail", "--url", "\(server.url)")
    #expect(outcome.out.isEmpty)
    #expect(outcome.err.contains("belfry: the broker ended the stream (shutdown). Connecting again\n"))
    let events = try Executable().run("tail", "--json", "--url", "\(server.url)")
    #expect(
      events.out.split(separator: "\n").count { $0.contains(#""event":"kicked""#) } == 2, "\(events.out)")
  }

  @Test func `a quiet tail says that it is connected`() throws {
    let server = try ScriptedServer { _, _ in
      [
        .stream, .chunk(": \n\n"), .pause(milliseconds: 1_500),
        .chunk("event: kicked\ndata: {\"reason\":\"replaced\",\"retry\":false}\n\n"),
      ]
    }
    let quiet = try Executable().run("tail", "--url", "\(server.url)")
    #expect(quiet.err.hasPrefix("belfry: connected; nothing has come yet\n"), "\(quiet.err)")
    #expect(
      try !Executable().run("tail", "--json", "--url", "\(server.url)").err.contains("nothing has come"))
  }
}
