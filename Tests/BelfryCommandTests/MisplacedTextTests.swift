import Foundation
import TestKit
import Testing

/// Texts and values that were given in a wrong place, or are missing: the refusal leads to the right one.
@Suite struct MisplacedTextTests {
  @Test(arguments: [
    (["server", "decline", "12", "--reason", "x"], "--postscript TEXT"),
    (["channel", "decline", "12", "34", "--message", "x"], "--postscript TEXT"),
    (["group", "decline", "12", "--postscript", "x"], "--reason TEXT"),
    (["server", "decline", "12", "no thanks"], "--postscript 'no thanks'"),
    (["group", "refuse", "12", "no thanks"], "--reason 'no thanks'"),
  ])
  func `words to the other side have another option in another space`(words: [String], meant: String) throws {
    let outcome = try Executable().run(words)
    #expect(outcome.code == 2)
    #expect(outcome.err.contains("\n  perhaps: \(meant)\n"), "\(outcome.err)")
  }

  @Test func `an empty standard input is named as the cause`() throws {
    for input in ["", "\n"] {
      let outcome = try Executable().run(["send", "--to", "alice", "--body", "-"], input: input)
      #expect(outcome.code == 2)
      #expect(outcome.err.hasPrefix("belfry send: standard input, which --body - reads, was empty;"))
      #expect(!outcome.err.contains("perhaps"), "\(outcome.err)")
    }
  }

  @Test func `a send shows the expiry with its zone`() throws {
    let server = try ScriptedServer { _, _ in
      [.answer(201, #"{"messageServerId":"7","messageClientId":"m","time":1,"duplicate":false}"#)]
    }
    var belfry = Executable()
    belfry.environment["TZ"] = "Europe/Berlin"
    let words = ["send", "--to", "bob", "--body", "x", "--url", "\(server.url)", "--expire-at"]
    #expect(
      try belfry.run(words + ["2096-12-24 18:00"]).out == "7  sent, expires 2096-12-24 18:00:00 +01:00\n")
  }

  @Test(arguments: ["Foo/Bar", ":Europe/Berlin", "/usr/share/zoneinfo/UTC"])
  func `a time zone that is unknown is not taken for another`(zone: String) throws {
    var belfry = Executable()
    belfry.environment["TZ"] = zone
    let said = try belfry.run("version").err
    #expect(said.hasPrefix("belfry: the time zone in TZ is not known here: \(zone). Times are shown in "))
    for known in ["", "UTC", "Europe/Berlin", "EST5EDT", "CET"] {
      belfry.environment["TZ"] = known
      #expect(try belfry.run("version").err.isEmpty, "\(known)")
    }
  }

  @Test func `notifications to mark are words or the values of an option`() throws {
    let server = try ScriptedServer { _, _ in [.answer(200, #"{"read":2}"#)] }
    for words in [["7", "8"], ["--message", "7", "8"], ["--message", "7,8"]] {
      #expect(try Executable().run(["read"] + words + ["--url", "\(server.url)"]).out == "2 marked read\n")
      let body = try #require(server.requests.last).body
      #expect(body.contains(#""7""#) && body.contains(#""8""#), "\(body)")
    }
    #expect(try Executable().run("read", "7", "--up-to", "8").err.contains("cannot be combined"))
    #expect(try Executable().run("read").err.contains("MESSAGE or --up-to is needed"))
    #expect(try Executable().run("read", "all").err.contains("perhaps: --up-to all"))
  }
}
