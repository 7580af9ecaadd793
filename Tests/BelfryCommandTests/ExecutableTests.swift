import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct ExecutableTests {
  private static let receipt =
    #"{"messageServerId":"7","messageClientId":"m","time":1767981731000,"duplicate":false}"#
  private static func notification(_ id: Int) -> String {
    #"{"messageServerId":"\#(id)","time":1767981731000,"type":100,"toType":1,"serverId":"12","fromAccount":"alice","#
      + #""body":"hello"}"#
  }
  private static let serverInfo =
    #"{"serverId":"12","name":"Ringers","owner":"alice","createTime":1767981731000,"inviteMode":0,"applyMode":1,"#
    + #""defaultChannelId":"34","memberCount":2}"#

  // MARK: Exit codes

  @Test func `success is 0, and prints to stdout only`() throws {
    let server = try ScriptedServer { _, _ in [.answer(201, Self.receipt)] }
    let outcome = try Executable().run(
      "send", "--url", "\(server.url)", "--server", "12", "--to", "bob,carol", "--body", "hi", "--as",
      "alice",
      "--device", "d1", "--attach", #"{"a":[1]}"#, "--live-only", "--status", "10000", "--client-id", "m")
    #expect(outcome.code == 0)
    #expect(outcome.out == "7  sent\n")
    #expect(outcome.err.isEmpty)
    let request = try #require(server.requests.first)
    #expect(request.headers["authorization"] == "Bearer t")
    #expect(request.headers["belfry-account"] == "alice")
    #expect(request.headers["belfry-device"] == "d1")
    #expect(
      request.body
        == #"{"attach":{"a":[1]},"body":"hi","messageClientId":"m","serverId":"12","setting":{"needBadge":true,"#
        + #""needPushNick":true,"persistEnable":false,"pushEnable":false,"routeEnable":true},"status":10000,"#
        + #""toAccids":["bob","carol"]}"#)
  }

  @Test func `a refusal is 1, with the problem's code and detail and what to do`() throws {
    let server = try ScriptedServer { _, _ in
      [.problem(409, code: "duplicateContent", detail: "m was used for other content")]
    }
    let outcome = try Executable().run(
      "send", "--url", "\(server.url)", "--to", "bob", "--body", "x", "--client-id", "m")
    #expect(outcome.code == 1)
    #expect(outcome.out.isEmpty)
    #expect(outcome.err.hasPrefix("belfry: duplicateContent: m was used for other content\n"))
    #expect(outcome.err.contains("use another"))
  }

  @Test func `a broker's refusal cannot command the terminal either`() throws {
    let server = try ScriptedServer { _, _ in [.problem(403, code: "forbidden", detail: #"no \u001b[2J"#)] }
    let outcome = try Executable().run("stats", "--url", "\(server.url)")
    #expect(outcome.code == 1)
    #expect(outcome.err.hasPrefix("belfry: forbidden: no \\u{1b}[2J\n"))
  }

  @Test func `no broker is 1 and says how to have one`() throws {
    let port = try ScriptedServer { _, _ in [] }.port
    let outcome = try Executable().run("stats", "--url", "http://127.0.0.1:\(port)")
    #expect(outcome.code == 1)
    #expect(outcome.err.hasPrefix("belfry: transport: "))
    #expect(outcome.err.contains("belfry serve"))
  }

  @Test(arguments: [
    (["sned"], "perhaps: send"), (["send", "--bdoy", "x"], "perhaps: --body"),
    (["send", "--message", "x"], "perhaps: --body TEXT"),
    (
      ["resend", "--message", "3"],
      "there is no option --message. A send that printed a message id has arrived"
    ),
    (["send"], "--server, --group, --room or --to"),
    (["send", "--to", "bob"], "--body is needed"),
    (["send", "--to", "bob", "--body", ""], "--body is needed"),
    (["send", "--to", "bob", "--body", "x", "--expire-at", "3600"], "perhaps: --expire-at 1h"),
    (["audit", "--since", "2027-13-01 10:00"], "--since must be a time; there is no 2027-13-01 10:00\n"),
    (
      ["send", "--to", "bob", "Hello"],
      "Hello was read as another account for --to\n  perhaps: --body Hello"
    ),
    (["account", "prefer", "--level", "noen"], "--level must be all or parties or none, not noen"),
    (["send", "--group", "1", "--room", "2", "--body", "x"], "--group and --room"),
    (["send", "--group", "1", "--channel", "2", "--body", "x"], "--channel goes with --server"),
    (["send", "--channel", "2", "--to", "bob", "--body", "x"], "--channel needs --server"),
    (["server", "show", "twelve"], "not twelve"), (["read"], "MESSAGE or --up-to"),
    (["stats", "--url", "nowhere"], "--url must begin"),
    (["explain", "--account", "bob"], "MESSAGE is needed: the notification"),
    (["explain", "7", "--message", "7", "--account", "bob"], "is given twice"),
    (["explain", "seven", "--account", "bob"], "MESSAGE must be a message id"),
    (["audit", "--since", "yesterday"], "--since must be a time (\"2026-12-24 18:00\""),
    (["channel", "show", "12"], "CHANNEL is needed: the channel"),
    (["member", "add", "12"], "ACCID or --file is needed"),
    (["server", "delete", "12"], "--yes, to do it without asking"),
    (["account", "end-all"], "End all streams of the account?"),
    (["member", "remove", "12", "bob"], "Remove the member: server 12, bob?"),
    (["server", "hand-over", "12", "bob"], "Hand over: server 12, bob?"),
    (["group", "hand-over", "56", "bob"], "Hand over: group 56, bob?"),
    (["room", "remove-member", "78", "bob"], "Remove the attendee: room 78, bob?"),
    (
      ["room", "leave", "78", "--as", "bob"], "Leave; if the host leaves, the room is deleted: room 78, bob?"
    ),
    (["server", "leave", "12"], "ACCID or --as is needed: the token names no account"),
    (["webhook", "replay", "12", "--from", "yesterday"], "or a time (\"2026-12-24 18:00\""),
    (["read", "--up-to", "4887958120309335283"], "is later than any notification"),
    (
      ["send", "--to", "bob", "--body", "x", "--push", "--live-only"],
      "only notifications that are stored are pushed"
    ),
    (["unread", "--wait", "5m"], "between 0 s and 1 min"),
    (["group", "update", "56"], "there is nothing to change; give at least one of --name"),
    (["webhook", "update", "12"], "there is nothing to change"),
    (["server", "accept", "12"], "--as ACCID, the invited account"),
    (["send", "--to", "bob,,carol", "--body", "x"], "a value of --to is empty: bob,,carol"),
    (["types", "99999"], "belfry types lists them"),
    (["send", "--to", "bob", "--attach", "{"], "--attach must be JSON"),
  ])
  func `wrong usage is 2 and names the wrong word`(words: [String], said: String) throws {
    let outcome = try Executable().run(words)
    #expect(outcome.code == 2)
    #expect(outcome.out.isEmpty)
    #expect(outcome.err.contains(said), "\(outcome.err)")
    #expect(outcome.err.contains("--help shows more"))
  }

  @Test func `no token is wrong usage, before anything is asked`() throws {
    let outcome = try Executable(token: nil).run("stats")
    #expect(outcome.code == 2)
    #expect(outcome.err.contains("BELFRY_TOKEN"))
  }

  @Test func `help is 0`() throws {
    for words in [[], ["--help"], ["server"], ["send", "--help"], ["help", "tail"]] {
      let outcome = try Executable().run(words)
      #expect(outcome.code == 0)
      #expect(outcome.out.hasPrefix("belfry"))
      #expect(outcome.err.isEmpty)
    }
  }

  // MARK: Output

  @Test func `a duplicate is told`() throws {
    let server = try ScriptedServer { _, _ in [.answer(200, Self.receipt.replacing("false", with: "true"))] }
    let words = ["resend", "--url", "\(server.url)", "--to", "bob", "--body", "x", "--client-id", "m"]
    #expect(
      try Executable().run(words).out == "7  duplicate: it was sent before, and nobody receives it again\n")
    #expect(
      try Executable().run(words + ["--json"]).out
        == Self.sorted(Self.receipt.replacing("false", with: "true")))
    #expect(server.requests.map(\.target) == ["/v1/notifications/resend", "/v1/notifications/resend"])
  }

  static func sorted(_ json: String) throws -> String {
    let value = try JSONSerialization.jsonObject(with: Data(json.utf8))
    let data = try JSONSerialization.data(
      withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
    return String(decoding: data, as: UTF8.self) + "\n"
  }

  @Test func `lists follow their pages into one table`() throws {
    let server = try ScriptedServer { request, _ in
      let isLast = request.target.contains("cursor=next")
      let name = isLast ? "Second" : "Ringers"
      return [
        .answer(
          200,
          #"{"servers":[\#(Self.serverInfo.replacing("Ringers", with: name))],"cursor":\#(isLast ? "null" : "\"next\"")}"#
        )
      ]
    }
    let outcome = try Executable().run("server", "list", "--url", "\(server.url)")
    #expect(
      outcome.out == """
        SERVER  NAME     OWNER  MEMBER COUNT  CREATE TIME
        12      Ringers  alice  2             2026-01-09 18:02:11
        12      Second   alice  2             2026-01-09 18:02:11

        """)
    #expect(server.requests.map(\.target) == ["/v1/servers?limit=100", "/v1/servers?limit=99&cursor=next"])
    let one = try Executable().run("server", "list", "--limit", "1", "--json", "--url", "\(server.url)")
    #expect(one.out == (try Self.sorted(Self.serverInfo)))
  }

  @Test func `a list goes on behind an empty page, and not round in circles`() throws {
    let server = try ScriptedServer { _, number in
      switch number {
      case 1: [.answer(200, #"{"servers":[],"cursor":"next"}"#)]
      default: [.answer(200, #"{"servers":[\#(Self.serverInfo)],"cursor":"next"}"#)]
      }
    }
    let outcome = try Executable().run("server", "list", "--json", "--url", "\(server.url)")
    #expect(outcome.out == (try Self.sorted(Self.serverInfo)))
    #expect(server.requests.count == 2)
  }

  @Test func `unread is a table, or a sentence when there is nothing`() throws {
    let server = try ScriptedServer { request, _ in
      let list = request.target.contains("after") ? "" : Self.notification(7)
      return [.answer(200, #"{"notifications":[\#(list)],"cursor":"1.a"}"#)]
    }
    #expect(
      try Executable().run("unread", "--url", "\(server.url)").out == """
        ID  TIME                 SPACE      TYPE    FROM   BODY
        7   2026-01-09 18:02:11  server 12  custom  alice  hello

        """)
    for (wait, seconds) in [("1", 1), ("5s", 5), ("1m", 60)] {
      let nothing = try Executable().run(
        "unread", "--after", "1.a", "--wait", wait, "--url", "\(server.url)")
      #expect(nothing.out == "nothing is unread\n")
      #expect(server.requests.last?.target == "/v1/notifications?limit=100&after=1.a&wait=\(seconds)")
    }
  }

  @Test func `read takes ids as they come, or everything`() throws {
    let server = try ScriptedServer { _, _ in [.answer(200, #"{"read":2}"#)] }
    #expect(
      try Executable().run("read", "--message", "7", "8,9", "--url", "\(server.url)").out == "2 marked read\n"
    )
    #expect(try Executable().run("read", "--up-to", "all", "--url", "\(server.url)").out == "2 marked read\n")
    #expect(
      server.requests.map(\.body) == [
        #"{"items":[{"messageServerId":"7"},{"messageServerId":"8"},{"messageServerId":"9"}]}"#,
        #"{"upTo":"9223372036854775807"}"#,
      ])
  }

  @Test func `members are added from words and from a file`() throws {
    let server = try ScriptedServer { _, _ in [.answer(200, #"{"added":["bob","carol"]}"#)] }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("accids-\(UUID().uuidString)")
    try Data("carol\n\n  dave  \n".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let outcome = try Executable().run(
      "member", "add", "12", "bob", "--file", file.path, "--url", "\(server.url)")
    #expect(outcome.out == "added members: server 12, bob, carol, dave\nadded  bob, carol\n")
    #expect(server.requests.map(\.body) == [#"{"accids":["bob","carol","dave"]}"#])
    #expect(try Executable().run("member", "add", "12", "--file", "/no/such").code == 1)
    try Data("carol\r\n\r\nda ve\r\n".utf8).write(to: file)
    let wrong = try Executable().run("member", "add", "12", "--file", file.path, "--url", "\(server.url)")
    #expect(wrong.code == 2 && server.requests.count == 1)
    #expect(wrong.err.contains("\(file.path), line 3 must be letters, digits and"), "\(wrong.err)")
  }

  @Test func `every other command asks for what it says`() throws {
    let channel =
      #"{"channelId":"34","serverId":"12","name":"news","type":"public","membership":"everyone","createTime":0}"#
    let server = try ScriptedServer { request, _ in
      switch true {
      case request.method == "DELETE" || request.target.hasSuffix("/subscription"): [.answer(204)]
      case request.target.contains("/channels/") || request.target.hasSuffix("/channels"):
        [.answer(200, channel)]
      case request.target.hasSuffix("/members/bob"):
        [.answer(200, #"{"accid":"bob","role":"admin","subscribed":true}"#)]
      case request.target == "/v1/stats": [.answer(200, #"{"consumers":3,"loop":{"lag":1}}"#)]
      default: [.answer(200, Self.serverInfo)]
      }
    }
    let expected: [([String], asked: String, printed: String)] = [
      (
        ["server", "subscribe", "12"], "PUT /v1/servers/12/subscription",
        "subscribed: server 12"
      ),
      (
        ["channel", "unsubscribe", "12", "34"], "DELETE /v1/servers/12/channels/34/subscription",
        "unsubscribed: server 12, channel 34"
      ),
      (["server", "create", "--name", "Ringers"], "POST /v1/servers", "server           12"),
      (["server", "create", "--name", "Ringers"], "POST /v1/servers", "created the server"),
      (["server", "show", "12"], "GET /v1/servers/12", "apply mode       needsApproval"),
      (["server", "update", "12", "--name", "x"], "PATCH /v1/servers/12", "name             Ringers"),
      (["server", "delete", "12", "--yes"], "DELETE /v1/servers/12", "deleted the server: server 12"),
      (["server", "delete", "12", "--yes"], "DELETE /v1/servers/12", "deleted the server: server 12"),
      (
        ["channel", "create", "12", "--name", "news", "--type", "public"], "POST /v1/servers/12/channels",
        "name         news"
      ),
      (["channel", "show", "12", "34"], "GET /v1/servers/12/channels/34", "name         news"),
      (
        ["channel", "update", "12", "34", "--description", ""], "PATCH /v1/servers/12/channels/34",
        "create time  1970-01-01 00:00:00"
      ),
      (
        ["channel", "delete", "12", "34", "--yes"], "DELETE /v1/servers/12/channels/34",
        "deleted the channel: server 12, channel 34"
      ),
      (["member", "show", "12", "bob"], "GET /v1/servers/12/members/bob", "subscribed  yes"),
      (
        ["member", "remove", "12", "bob", "--yes"], "DELETE /v1/servers/12/members/bob",
        "removed the member: server 12, bob"
      ),
      (["stats"], "GET /v1/stats", "loop lag   1"),
    ]
    for (words, asked, printed) in expected {
      let outcome = try Executable().run(words + ["--url", "\(server.url)"])
      #expect(outcome.code == 0, "\(words): \(outcome.err)")
      #expect(outcome.out.split(separator: "\n").contains { $0 == printed }, "\(outcome.out)")
      let request = try #require(server.requests.last)
      #expect("\(request.method) \(request.target)" == asked)
    }
  }

  @Test func `more accounts than the broker takes at a time are several requests and one answer`() throws {
    let server = try ScriptedServer { request, _ in
      [.answer(200, #"{"added":["\#(request.body.contains("a1000") ? "a1000" : "a0")"]}"#)]
    }
    let accounts = (0...1_000).map { "a\($0)" }
    let outcome = try Executable().run(
      ["member", "add", "12"] + accounts + ["--json", "--url", "\(server.url)"])
    #expect(outcome.out == #"{"added":["a0","a1000"]}"# + "\n")
    #expect(server.requests.count == 2)
  }

  @Test func `what was done before a refusal is said`() throws {
    let server = try ScriptedServer { _, number in
      [
        number == 1
          ? .answer(200, #"{"added":["a0"]}"#) : .problem(409, code: "tooMany", detail: "it is full")
      ]
    }
    let accounts = (0...1_000).map { "a\($0)" }
    let outcome = try Executable().run(["member", "add", "12"] + accounts + ["--url", "\(server.url)"])
    #expect(outcome.code == 1)
    #expect(
      outcome.err
        == "belfry: the first 1000 accounts are done. The rest are not:\nbelfry: tooMany: it is full\n")
  }

  // MARK: tail

  @Test func `tail prints into a pipe as it happens, across a cut`() throws {
    let server = try ScriptedServer { request, number in
      let id = number == 1 ? 7 : 8
      let event = Step.chunk("event: notification\nid: c\(id)\ndata: \(Self.notification(id))\n\n")
      return number == 1
        ? [.stream, .chunk("retry: 1\n\n"), event, .chunk("event: read\ndata: {\"upTo\":\"6\"}\n\n")]
        : [.stream, event, .hold]
    }
    let (process, out, err) = try Executable().process(["tail", "--url", "\(server.url)"])
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    // The stream never ends, so what arrives here was printed at once.
    var lines: [String] = []
    var text = ""
    while lines.count < 3 {
      let data = out.availableData
      guard !data.isEmpty else { break }
      text += String(decoding: data, as: UTF8.self)
      lines = text.split(separator: "\n").map(String.init)
    }
    #expect(lines.first == "2026-01-09 18:02:11  7  server 12  custom  alice  hello")
    #expect(lines.dropFirst().first?.hasSuffix("  read everything up to 6") == true)
    #expect(lines.last == "2026-01-09 18:02:11  8  server 12  custom  alice  hello")
    #expect(server.requests.map { $0.headers["last-event-id"] } == [nil, "c7"])
    process.terminate()
    let notices = String(decoding: try err.readToEnd() ?? Data(), as: UTF8.self)
    #expect(notices.contains(": the connection broke; trying again in"))
    #expect(notices.contains("connected again"))
  }

  @Test func `tail of a quiet feed costs next to nothing`() async throws {
    let server = try ScriptedServer { _, _ in [.stream, .hold] }
    let (process, _, _) = try Executable().process(["tail", "--url", "\(server.url)"])
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    try await eventually { !server.requests.isEmpty }
    // A loop that never rests takes a hundred ticks a second. The ticks of its start end after a while.
    try await eventually("it does not rest") {
      let before = try Self.processorTicks(of: process)
      try await Task.sleep(for: .seconds(1))
      return try Self.processorTicks(of: process) - before < 5
    }
  }

  /// User and system time, from `proc(5)`; the name before them is `belfry` and has no space.
  private static func processorTicks(of process: Process) throws -> Int {
    let path = "/proc/\(process.processIdentifier)/stat"
    let fields = try String(contentsOfFile: path, encoding: .utf8).split(separator: " ")
    return try #require(Int(fields[13])) + #require(Int(fields[14]))
  }

  @Test func `tail that the broker ends for good is a failure`() throws {
    let server = try ScriptedServer { _, _ in
      [.stream, .chunk("event: kicked\ndata: {\"reason\":\"replaced\",\"retry\":false}\n\n"), .hold]
    }
    let outcome = try Executable().run("tail", "--url", "\(server.url)")
    #expect(outcome.code == 1)
    #expect(outcome.out.isEmpty)
    #expect(outcome.err.contains("another stream of the account replaced this one"), "\(outcome.err)")
  }

  @Test func `tail stops after the count, and gives programs the cursor`() throws {
    let server = try ScriptedServer { _, _ in
      [.stream, .chunk("event: notification\nid: c7\ndata: \(Self.notification(7))\n\n"), .hold]
    }
    let outcome = try Executable().run(
      "tail", "--json", "--count", "1", "--after", "c6", "--url", "\(server.url)")
    #expect(outcome.code == 0)
    #expect(outcome.out.hasPrefix(#"{"cursor":"c7","data":{"body":"hello""#))
    #expect(server.requests.map { $0.headers["last-event-id"] } == ["c6"])
  }

  @Test func `tail is refused at once where nobody answers or the token is not liked`() throws {
    let port = try ScriptedServer { _, _ in [] }.port
    #expect(try Executable().run("tail", "--url", "http://127.0.0.1:\(port)").code == 1)
    let server = try ScriptedServer { _, _ in [.problem(401, code: "unauthorized", detail: "expired")] }
    let outcome = try Executable().run("tail", "--url", "\(server.url)")
    #expect(outcome.code == 1)
    #expect(outcome.err.hasPrefix("belfry: unauthorized: expired\n"))
  }
}
