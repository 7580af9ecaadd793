import Foundation
import TestKit
import Testing

@testable import belfry

/// Mistakes that somebody makes in the first hour. Nothing is sent, and the refusal leads to the right words.
@Suite struct TypedMistakeTests {
  @Test(arguments: [
    (["server", "create", "--name", "x", "--invite", "bob"], "belfry server invite SERVER"),
    (["account", "prefer", "--space", "12", "--level", "none"], "--space server:12"),
    (["webhook", "replay", "12", "--from", "86400"], "--from 1d"),
    (["account", "put-pusher", "phone", "--kind", "matrix", "--app-id", "a"], "--app TEXT"),
    (["server", "mute", "12", "bob", "--for", "10m"], "--duration-seconds TIME"),
    (["room", "update", "12", "--topic", "x"], "--subject TEXT"),
    (["account", "prefer", "--space", "server:12", "--clear"], "--forget"),
    (["server", "destroy", "12"], "server delete"), (["channel", "ban", "12", "bob"], "channel block"),
    (["group", "update", "12", "--announcement", "x"], "belfry group announce GROUP --announcement TEXT"),
    (["room", "microphone", "12", "--on", "on"], "--on true"),
    (["webhook", "update", "12", "--enabled", "off"], "--enabled false"),
    (["channel", "mutes", "12", "34"], "channel muted"), (["room", "mine"], "room list"),
    (["channel", "mine", "12"], "channel list"), (["notification", "show", "12"], "unread or explain"),
  ])
  func `the refusal shows the right words`(words: [String], meant: String) throws {
    let outcome = try Executable().run(words)
    #expect(outcome.code == 2)
    #expect(outcome.err.contains("\n  perhaps: \(meant)"), "\(outcome.err)")
  }

  /// A path that has a space in it would end the process.
  @Test(arguments: [
    ["account", "pusher"], ["account", "put-pusher"], ["account", "remove-pusher"], ["account", "end"],
  ])
  func `a device with a character that names cannot have is refused`(words: [String]) throws {
    for device in ["my phone", "a/b", "a%b", "a?b", "é", "[1]", "", "a\\b"] {
      let options = words[1] == "put-pusher" ? ["--kind", "matrix"] : words[1] == "pusher" ? [] : ["--yes"]
      let outcome = try Executable().run(words + [device] + options)
      #expect(outcome.code == 2, "\(device): \(outcome.err)")
      #expect(outcome.err.contains("DEVICE must "), "\(device): \(outcome.err)")
    }
  }

  @Test func `a code with odd characters is sent as it is`() throws {
    let server = try ScriptedServer { _, _ in
      [.problem(404, code: "notFound", detail: "there is no such code")]
    }
    for (code, path) in [("a b", "a%20b"), ("ab/cd", "ab%2Fcd"), ("é", "%C3%A9"), ("[1]", "%5B1%5D")] {
      let outcome = try Executable().run("server", "revoke-code", "12", code, "--url", "\(server.url)")
      #expect(outcome.code == 1, "\(outcome.err)")
      #expect(
        server.requests.last?.target.hasSuffix("/\(path)") == true, "\(server.requests.last?.target ?? "")")
    }
  }

  @Test func `a refused preference is named by its option`() throws {
    let server = try ScriptedServer { _, number in
      number == 1
        ? [.answer(200, #"{"preferences":[{"space":"server:7","level":"none"}]}"#)]
        : [
          .answer(
            400,
            #"{"status":400,"title":"Refused","detail":"is not a notification type","code":"invalidField","field":"preferences[1].types[0]"}"#,
            type: "application/problem+json")
        ]
    }
    let outcome = try Executable().run(
      "account", "prefer", "--type", "9999", "--level", "none", "--url", "\(server.url)")
    #expect(
      outcome.err.hasPrefix("belfry: invalidField: --type is not a notification type\n"), "\(outcome.err)")
  }

  @Test func `to forget a preference that is not there is an error`() throws {
    let server = try ScriptedServer { _, _ in
      [.answer(200, #"{"preferences":[{"space":"server:7","level":"none"}]}"#)]
    }
    let words = ["account", "prefer", "--forget", "--url", "\(server.url)", "--space"]
    let absent = try Executable().run(words + ["server:8"])
    #expect(absent.code == 1)
    #expect(
      absent.err.hasPrefix("belfry: notFound: there is no preference for this space and these types\n"),
      "\(absent.err)")
    #expect(server.requests.map(\.method) == ["GET"])
    let there = try Executable().run(words + ["server:7"])
    #expect(there.out == "preference removed: 0 in total\n", "\(there.out)\(there.err)")
  }

  @Test func `a preference says when it ends`() throws {
    let server = try ScriptedServer { _, _ in [.answer(200, #"{"preferences":[]}"#)] }
    let words = ["account", "prefer", "--space", "server:7", "--level", "none", "--url", "\(server.url)"]
    let dated = try Executable().run(words + ["--until", "2056-12-24T00:00+00:00"])
    #expect(dated.out.hasPrefix("preference set, ends 2056-12-2"), "\(dated.out)\(dated.err)")
    #expect(dated.out.hasSuffix(": 1 in total\n"))
  }

  @Test func `an audience of a thousand leaves room for the rest`() throws {
    let names = (1...25).map { "u\($0)" }.joined(separator: ",")
    let meaning = try #require(ExplanationText.meaning(of: "named +" + names))
    #expect(meaning.hasSuffix("u19, u20 and 5 others"))
  }

  @Test(arguments: [
    (["server", "delete", "12", "wes"], "wes is not understood"),
    (
      ["send", "--to", "bob", "--body", "x", "--push", "maybe"],
      "maybe is not understood. --push, which stands before it, takes no value"
    ),
    (["webhook", "create", "--url", "https://a.example"], "--url names the broker"),
    (["resend", "382919632803229696", "--body", "x"], "repeat all options of the send with its --client-id"),
    (["send", "--to", "bob", "--body", "x", "--push-content", "y"], "--push-content needs --push"),
    (["group", "create", "--name", "x"], "(privateOwnerInvites or privateMembersInvite or"),
  ])
  func `no hint leads further into the mistake`(words: [String], said: String) throws {
    let outcome = try Executable().run(words)
    #expect(outcome.code == 2)
    #expect(outcome.err.contains(said), "\(outcome.err)")
    #expect(!outcome.err.contains("perhaps:"), "\(outcome.err)")
  }

  @Test func `a gateway that is named as the broker gets no request`() throws {
    let gateway = try ScriptedServer { _, _ in [.answer(200, "{}")] }
    let outcome = try Executable().run(
      "account", "put-pusher", "phone", "--kind", "matrix", "--app", "a", "--pushkey", "k", "--url",
      "\(gateway.url)")
    #expect(outcome.code == 2)
    #expect(outcome.err.contains("--link is needed with --kind matrix"), "\(outcome.err)")
    #expect(outcome.err.contains("--url names the broker"))
    #expect(gateway.requests.isEmpty)
  }

  @Test(arguments: [
    (["server", "invite", "12", "bob,carol", "dave"], #"{"accids":["bob","carol","dave"]}"#),
    (["webhook", "update", "12", "--spaces", ""], #"{"spaces":[]}"#),
    (["server", "create", "--name", "x", "--apply-mode", "1"], #"{"applyMode":1,"name":"x"}"#),
    (["server", "create", "--name", "x", "--apply-mode", "joinsAtOnce"], #"{"applyMode":0,"name":"x"}"#),
    (["subscribe", "server:12"], #"{"servers":["12"],"subscribe":true}"#),
  ])
  func `forms of the same words are understood`(words: [String], body: String) throws {
    let server = try ScriptedServer { _, _ in [.answer(200, "{}")] }
    let outcome = try Executable().run(words + ["--url", "\(server.url)"])
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(server.requests.map(\.body) == [body])
  }

  /// A duration counts from each attempt. Repeated word for word, the command would send other content under the same id.
  @Test func `the repetition of a send has the expiry of the first attempt`() throws {
    let server = try ScriptedServer { _, number in
      number == 1
        ? [.problem(503, code: "unknownOutcome", detail: "later")]
        : [.problem(409, code: "duplicateContent", detail: "other content")]
    }
    let words = ["send", "--to", "bob", "--body", "x", "--url", "\(server.url)", "--expire-at"]
    let first = try Executable().run(words + ["1h"])
    let body = Data((server.requests.first?.body ?? "").utf8)
    let sent = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
    let expiry = try #require(sent["expireAt"] as? Int)
    #expect(first.err.contains(" --expire-at \(expiry), and it is sent only once"), "\(first.err)")
    let second = try Executable().run(words + ["1h", "--client-id", "c"])
    #expect(second.err.contains("--expire-at counts from each attempt"), "\(second.err)")
    let third = try Executable().run(words + ["2096-12-24 18:00", "--client-id", "c"])
    #expect(third.err.contains("\n  use another --client-id for a new notification\n"), "\(third.err)")
  }

  @Test func `a channel without its server is told how to be given`() throws {
    let failed = #"{"failed":[{"serverId":"34","code":"notFound","detail":"there is no server 34"}]}"#
    let server = try ScriptedServer { _, _ in [.answer(200, failed)] }
    let outcome = try Executable().run("subscribe", "34", "--url", "\(server.url)")
    #expect(
      outcome.err.hasSuffix("\n  a channel is given with its server: SERVER/CHANNEL\n"), "\(outcome.err)")
  }

  @Test func `a word that was left out is not named`() throws {
    let problem =
      #"{"status":404,"title":"x","detail":"no such invitation is pending","code":"notFound","field":"requestId"}"#
    let server = try ScriptedServer { _, _ in [.answer(404, problem, type: "application/problem+json")] }
    let outcome = try Executable().run("server", "accept", "12", "--as", "bob", "--url", "\(server.url)")
    #expect(outcome.err == "belfry: notFound: no such invitation is pending\n")
  }

  @Test func `a token may be copied with its scheme`() throws {
    let server = try ScriptedServer { _, _ in [.answer(200, "{}")] }
    #expect(try Executable().run("stats", "--token", "Bearer  abc ", "--url", "\(server.url)").code == 0)
    #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer abc"])
  }

  @Test(arguments: [
    (["account", "end", "nothere"], #"{"ended":0}"#, "no stream was open on the device: device nothere\n"),
    (["account", "end", "phone"], #"{"ended":2}"#, "ended the streams of the device: device phone\n"),
    (
      ["read", "77"], #"{"read":0}"#,
      "0 marked read: each was read before, is hidden by the preferences"
    ),
    (["read", "--up-to", "all"], #"{"read":0}"#, "0 marked read: nothing up to there was unread\n"),
    (
      ["room", "microphone", "12", "lea", "--on", "false"], "{}",
      "switched the microphone off: room 12, lea\n"
    ),
  ])
  func `a confirmation says what happened`(words: [String], answer: String, said: String) throws {
    let server = try ScriptedServer { _, _ in
      [answer == "{}" ? .answer(204) : .answer(200, answer)]
    }
    let outcome = try Executable().run(words + ["--url", "\(server.url)"])
    #expect(outcome.out.hasPrefix(said), "\(outcome)")
  }

  @Test func `the inviter in place of an invitation is told how to be named`() throws {
    let server = try ScriptedServer { _, _ in
      [.problem(404, code: "notFound", detail: "no such invitation is pending")]
    }
    let words = ["server", "accept", "12", "alice", "--url", "\(server.url)"]
    #expect(try Executable().run(words).err.contains("write --inviter alice instead\n"))
    let other = ["server", "accept", "12", "34", "--url", "\(server.url)"]
    #expect(try !Executable().run(other).err.contains("--inviter"))
  }

  @Test func `the code that a callback gives for its refusal is shown`() throws {
    let problem =
      #"{"status":403,"title":"x","detail":"no bad words","code":"refusedByCallback","callbackCode":"17"}"#
    let server = try ScriptedServer { _, _ in [.answer(403, problem, type: "application/problem+json")] }
    let outcome = try Executable().run("send", "--to", "bob", "--body", "x", "--url", "\(server.url)")
    #expect(outcome.err == "belfry: refusedByCallback: no bad words (the callback's code: 17)\n")
  }
}
