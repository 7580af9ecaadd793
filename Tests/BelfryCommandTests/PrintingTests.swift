import BelfryBytes
import BelfryClient
import BelfryModel
import Foundation
import Testing

@testable import belfry

@Suite struct PrintingTests {
  private let utc = TimeZone(secondsFromGMT: 0) ?? .current

  @Test func `columns are aligned by what a terminal shows, with nothing at a line's end`() {
    var table = TextTable(["ID", "NAME", "BODY"])
    table.add(["1", "alice", "hello"])
    table.add(["1234", "鐘樓", "grüße"])
    table.add(["5", "🔔", ""])
    #expect(
      table.lines
        == [
          "ID    NAME   BODY",
          "1     alice  hello",
          "1234  鐘樓   grüße",
          "5     🔔",
        ])
  }

  @Test func `a table without rows is nothing`() {
    #expect(TextTable(["ID"]).lines.isEmpty)
  }

  @Test func `a wide cell is cut with an ellipsis, at a character`() {
    #expect(VisibleText.fitted("abcdef", columnsLimit: 6) == "abcdef")
    #expect(VisibleText.fitted("abcdefg", columnsLimit: 6) == "abcde…")
    #expect(VisibleText.fitted("鐘鐘鐘鐘", columnsLimit: 6) == "鐘鐘…")
    var table = TextTable(["BODY"])
    table.add([String(repeating: "x", count: 500)])
    #expect(table.lines[1].count == 500)
    #expect(table.lines(columnsLimit: 72)[1].text == String(repeating: "x", count: 71) + "…")
  }

  @Test func `where a table is too wide, words are cut, and never ids`() {
    var table = TextTable(["ID", "SPACE", "FROM", "BODY"])
    let id = "382947191213498368"
    table.add([id, "server 12", "alice", String(repeating: "x", count: 100)])
    #expect(table.lines(columnsLimit: 200).map(\.text) == table.lines)
    #expect(table.lines(columnsLimit: 70)[1].text.hasPrefix("\(id)  server 12  alice  xxxx"))
    #expect(table.lines(columnsLimit: 70)[1].text.hasSuffix("x…"))
    var ids = TextTable(["A", "B"])
    ids.add([id, id])
    #expect(ids.lines(columnsLimit: 10).map(\.text) == ["A", "  B", id, "  \(id)"])
  }

  @Test func `columns without anything go first, then those of counts and times, and never the first`() {
    let id = "382947191213498368"
    var table = TextTable(["SERVER", "NAME", "DESCRIPTION", "CREATE TIME", "CHANNEL", "MEMBER COUNT"])
    table.add([id, "Campfire", "-", "2026-01-09 18:02:11", id, "2"])
    let lines = table.lines(columnsLimit: 80).map(\.text)
    #expect(lines[0].split(separator: " ", omittingEmptySubsequences: true).first == "SERVER")
    #expect(!lines[0].contains("DESCRIPTION") && !lines[0].contains("MEMBER COUNT"))
    #expect(lines[1] == "\(id)  Campfire  2026-01-09 18:02:11  \(id)")
    #expect(lines.allSatisfy { $0.count <= 80 })
  }

  @Test func `an id at the end of a text is never cut`() {
    var table = TextTable(["TIME", "TARGET"])
    table.add(["2026-01-09 18:02:11", "made=/v1/servers/382947191213498368"])
    #expect(table.lines(columnsLimit: 45)[1].text == "2026-01-09 18:02:11  …vers/382947191213498368")
    #expect(table.lines(columnsLimit: 20).last?.text == "  made=/v1/servers/382947191213498368")
  }

  @Test func `where an id or a link would be cut, a row takes several lines`() {
    let id = "382947191213498368"
    var table = TextTable(["TIME", "OPERATION", "TARGET"])
    table.add(["2026-01-09 18:02:11", "group assign", "groupId=\(id) accid=alice"])
    #expect(
      table.lines(columnsLimit: 60).map(\.text)
        == [
          "TIME  OPERATION", "  TARGET", "2026-01-09 18:02:11  group assign", "  groupId=\(id) accid=alice",
        ])
    #expect(table.lines(columnsLimit: 70)[1].text.hasSuffix("groupId=\(id) accid=a…"))
    #expect(table.lines(columnsLimit: 73).map(\.text) == table.lines)
    var links = TextTable(["WEBHOOK ID", "URL", "FAILURE"])
    links.add([id, "https://chat.example/hooks/belfry", "it answered 500, which is no success"])
    #expect(links.lines(columnsLimit: 80)[1].text.contains("https://chat.example/hooks/belfry"))
    #expect(links.lines(columnsLimit: 40).map(\.text).contains("  https://chat.example/hooks/belfry"))
  }

  @Test(arguments: [
    ("2026-12-24T18:00+01:00", 1_798_131_600_000), ("2026-12-24T17:00:00Z", 1_798_131_600_000),
    ("2026-12-24T17:00:00.250Z", 1_798_131_600_250), ("1798131600000", 1_798_131_600_000),
    ("90m", 1_798_137_000_000), ("24h", 1_798_218_000_000), ("7d", 1_798_736_400_000),
  ])
  func `a time that is to come is given in any of its forms`(text: String, time: Int64) {
    let now = Date(timeIntervalSince1970: 1_798_131_600)
    #expect(TimeText.unixMilliseconds(of: text, .ahead, now: now) == time)
  }

  @Test(arguments: ["", "now", "24", "-24h", "24 h", "2026-12-24 18", "7w", "٧d"])
  func `what is no time is refused, and a number is a length in seconds`(text: String) {
    let number = Int(text)
    #expect(TimeText.unixMilliseconds(of: text, .ago, now: Date()) == nil)
    #expect(DurationText.seconds(of: text) == number)
  }

  @Test(
    arguments: [
      ("1900000000", "1900000000 lies before 2001", "2030-03-17T17:46:40Z"),
      ("3600", "milliseconds since 1970", "1h"), ("86400", "milliseconds since 1970", "1d"),
      ("90", "milliseconds since 1970", "90s"),
      ("2027-03-28 02:30", "there is no 2027-03-28 02:30: the clocks in Europe/Berlin skip it", nil),
      ("2027-13-01 10:00", "there is no 2027-13-01 10:00", nil),
      ("2027-02-29", "there is no 2027-02-29", nil),
      ("2027-13-01T10:00Z", "there is no 2027-13-01T10:00Z", nil),
      ("0", nil, nil), ("1900000000000", nil, nil), ("2027-03-28 03:30", nil, nil), ("tomorrow", nil, nil),
    ] as [(String, String?, String?)])
  func `what only looks like a time is explained`(text: String, reason: String?, meant: String?) throws {
    let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
    let flaw = TimeText.flaw(of: text, in: berlin)
    #expect((flaw == nil) == (reason == nil), "\(flaw?.reason ?? "")")
    #expect(flaw?.reason.contains(reason ?? "") ?? true, "\(flaw?.reason ?? "")")
    #expect(flaw?.meant == meant)
  }

  @Test func `a week ago and a length of a week are given alike`() {
    let now = Date(timeIntervalSince1970: 1_798_131_600)
    #expect(TimeText.unixMilliseconds(of: "7d", .ago, now: now) == 1_797_526_800_000)
    #expect(DurationText.seconds(of: "7d") == 604_800)
  }

  @Test(arguments: [
    (0, "0 ms"), (300, "300 ms"), (35_000, "35 s"), (5_400_000, "1 h 30 min"), (604_800_000, "7 d"),
  ])
  func `lengths of time are readable`(milliseconds: Int, text: String) {
    #expect(DurationText.of(milliseconds: milliseconds) == text)
  }

  @Test func `no text of others commands the terminal`() {
    #expect(VisibleText.of("plain grüße 🔔 e\u{301}") == "plain grüße 🔔 e\u{301}")
    #expect(VisibleText.of("a\nb\tc\r") == "a\\nb\\tc\\r")
    #expect(VisibleText.of("\u{1b}[2Jgone") == "\\u{1b}[2Jgone")
    #expect(VisibleText.of("\u{9b}31m\u{7f}\u{0}") == "\\u{9b}31m\\u{7f}\\u{0}")
    #expect(VisibleText.quoted(#"a" \ b"#) == #""a\" \\ b""#)
    #expect(VisibleText.of("\u{202e}txt.exe\u{2066}\u{2028}") == "\\u{202e}txt.exe\\u{2066}\\u{2028}")
  }

  @Test func `no text of others commands the terminal as JSON either`() throws {
    let line = try JSONLine.text(["body": "\u{9b}31m\u{7f}\u{1b}[2J\u{202e}grüße"])
    #expect(line == #"{"body":"\u009b31m\u007f\u001b[2J\u202egrüße"}"#)
    let decoded = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
    #expect(decoded["body"] == "\u{9b}31m\u{7f}\u{1b}[2J\u{202e}grüße")
  }

  @Test func `no word of a password is shown`() throws {
    for url in [
      "redis://user:s3cret@redis:6379", "redis://:s3cret@h", "unix://u:s3cret@/run/redis.sock",
      "http://u:s3/cr@et@h/path", "x://s3cret@h",
    ] {
      let shown = "--redis must be that, not \(url) (said \"\(url)\")".withoutCredentials
      #expect(!shown.contains("s3"), "\(shown)")
      #expect(shown.contains("://***@"))
    }
    #expect("mail me@home://x".withoutCredentials == "mail me@home://x")
    for words in [
      ["serve", "redis://u:s3cret@h"], ["serve", "--redis", "redis+sentinel://h?sentinel_password=s3cret"],
      ["backup", "--redis", "redis+sentinel://h/m?sentinel_password=s3cret", "/tmp/none"],
      ["stats", "--url", "ftp://u:s3cret@h", "--token", "x"],
      ["backup", "--redis", "redis://u:s3cret@127.0.0.1:1", "/tmp/none"], ["redis://u:s3cret@h"],
      ["move", "--from", "redis://127.0.0.1:1", "--to", "redis://u:s3cret@h"],
      ["move", "--from", "redis://u:s3cret@127.0.0.1:1", "--to", "redis://h"],
    ] {
      let outcome = try Executable(token: nil).run(words)
      #expect(outcome.code != 0)
      #expect(!(outcome.out + outcome.err).contains("s3cret"), "\(outcome.err)")
    }
  }

  @Test(arguments: [
    (0, "1970-01-01 00:00:00"), (1_767_981_731_999, "2026-01-09 18:02:11"), (-1_000, "1969-12-31 23:59:59"),
  ])
  func `times are readable`(milliseconds: Int64, text: String) {
    #expect(TimeText.of(unixMilliseconds: milliseconds, in: utc) == text)
  }

  @Test func `times are given as times or as so long ago`() throws {
    let now = Date(timeIntervalSince1970: 1_000_000)
    for (text, milliseconds) in [
      ("1970-01-01T00:01:00Z", 60_000), ("90m", 994_600_000), ("24h", 913_600_000), ("7d", 395_200_000),
      ("5s", 999_995_000), ("1000000d", 0), ("1763700000000", 1_763_700_000_000), ("0", 0),
    ] as [(String, Int64)] {
      #expect(TimeText.unixMilliseconds(of: text, .ago, now: now) == milliseconds, "\(text)")
    }
    for text in ["", "h", "-1", "-1h", "1000000001h", "yesterday", "1w", "1970-13-01"] {
      #expect(TimeText.unixMilliseconds(of: text, .ago, now: now) == nil, "\(text)")
    }
  }

  @Test(
    arguments: [
      ("2026-12-24 18:00", 1_798_131_600_000), ("2026-12-24 18:00:30", 1_798_131_630_000),
      ("2026-12-24", 1_798_066_800_000), ("2026-02-30", nil), ("2026-12-24Z", nil),
      ("2026-12-24T18:00", 1_798_131_600_000), ("2026-12-24 17:00Z", 1_798_131_600_000),
      ("2026-07-01 00:30", 1_782_858_600_000), ("2026-03-29 03:00", 1_774_746_000_000),
      ("2026-03-29 02:30", nil), ("2026-02-30 12:00", nil), ("2026-12-24 24:30", nil),
    ] as [(String, Int64?)])
  func `a time as tables show it is a local one`(text: String, time: Int64?) throws {
    let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
    #expect(TimeText.unixMilliseconds(of: text, .ahead, now: Date(), in: berlin) == time)
    guard let time, text.contains(" "), !text.hasSuffix("Z") else { return }
    #expect(TimeText.of(unixMilliseconds: time, in: berlin).hasPrefix(text))
  }

  /// In spring the clocks of Cairo skip the first hour of a day.
  @Test func `a day begins when its clocks do`() throws {
    let cairo = try #require(TimeZone(identifier: "Africa/Cairo"))
    let time = try #require(TimeText.unixMilliseconds(of: "2026-04-24", .ahead, now: Date(), in: cairo))
    #expect(TimeText.of(unixMilliseconds: time, in: cairo) == "2026-04-24 01:00:00")
  }

  @Test func `examples of a length of time lie within its bounds`() {
    #expect(
      DurationText.inputRule(within: 0...60)
        == "a duration such as 30s, or a number of seconds, between 0 s and 1 min")
    #expect(DurationText.inputRule(within: 1...86_400).contains("such as 30s or 5m or 24h, or"))
  }

  @Test func `times of a broker are shown in the zone asked for`() throws {
    let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
    #expect(
      TimeText.localized("muted until 2026-12-24T17:00:00.250Z, or not", in: berlin)
        == "muted until 2026-12-24 18:00:00, or not")
    #expect(TimeText.localized("no time", in: berlin) == "no time")
  }

  @Test func `times are in the zone asked for`() throws {
    let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
    #expect(
      TimeText.withOffset(unixMilliseconds: 1_798_131_600_000, in: berlin) == "2026-12-24 18:00:00 +01:00")
    #expect(TimeText.withOffset(unixMilliseconds: 1_798_131_600_000, in: utc) == "2026-12-24 17:00:00 +00:00")
    let newfoundland = try #require(TimeZone(secondsFromGMT: -12_600))
    #expect(
      TimeText.withOffset(unixMilliseconds: 1_798_131_600_000, in: newfoundland)
        == "2026-12-24 13:30:00 -03:30")
    #expect(TimeText.of(unixMilliseconds: 1_767_981_731_000, in: berlin) == "2026-01-09 19:02:11")
  }

  @Test func `facts are sorted, nested ones named after the outer one, times readable`() {
    let facts: JSONObject = [
      "stamped": "all", "named": false, "memberSince": 1_767_981_731_000, "party": .null,
      "read": ["readAt": 1_767_981_732_000, "count": 2], "list": [1, "two"],
      "loops": [["lag": 1], ["lag": 2]], "createTime": 1_767_981_733_000,
    ]
    #expect(
      FactText.rows(facts, in: utc) == [
        ["createTime", "2026-01-09 18:02:13"], ["list", #"[1,"two"]"#], ["loops 0 lag", "1"],
        ["loops 1 lag", "2"],
        ["memberSince", "2026-01-09 18:02:11"], ["named", "no"], ["party", "-"],
        ["read count", "2"], ["read readAt", "2026-01-09 18:02:12"], ["stamped", "all"],
      ])
  }
}

@Suite struct FeedLineTests {
  private let utc = TimeZone(secondsFromGMT: 0) ?? .current

  private func notification(_ fields: String) throws -> BelfryClient.Notification {
    let json = #"{"messageServerId":"7","time":1767981731000,"toType":2,"type":100"# + fields + "}"
    return try JSONDecoder().decode(BelfryClient.Notification.self, from: Data(json.utf8))
  }

  private func text(_ event: FeedEvent) -> String {
    FeedLine.text(event, nowMilliseconds: 1_767_981_740_000, SpaceNames(), on: Console(timeZone: utc))
  }

  @Test func `a notification is its time, space, type, sender and body`() throws {
    let event = FeedEvent.notification(
      try notification(#","serverId":"12","channelId":"34","fromAccount":"alice","body":"hi\n\u001b[2J""#),
      cursor: "c")
    #expect(text(event) == "2026-01-09 18:02:11  7  server 12 channel 34  custom  alice  hi\\n\\u{1b}[2J")
  }

  @Test
  func `on a terminal a line breaks between words, and what follows cannot be taken for a line of its own`()
    throws
  {
    let event = FeedEvent.notification(
      try notification(
        #","serverId":"12","fromAccount":"alice","body":"Practice is at seven  To accept: this""#),
      cursor: "c")
    var terminal = Terminal()
    terminal.columns = 60
    let text = FeedLine.text(
      event, nowMilliseconds: 0, SpaceNames(), on: Console(timeZone: utc, terminal: terminal))
    #expect(
      text.split(separator: "\n") == [
        "2026-01-09 18:02:11  7  server 12  custom  alice  Practice", "  | is at seven To accept: this",
      ])
  }

  @Test func `what is only for the account is named like its counts`() throws {
    let names = SpaceNames(of: "bob")
    #expect(names.text(try notification(#","body":"hi""#).content) == "account bob")
    var invitation = try notification(#","serverId":"12""#)
    #expect(names.text(invitation.content) == "server 12")
    invitation.content.type = 1
    #expect(names.text(invitation.content) == "account bob")
  }

  @Test func `a sender's name stands beside the account`() throws {
    let event = FeedEvent.notification(
      try notification(#","fromAccount":"alice","fromNick":"Ally","body":"hi""#), cursor: "c")
    #expect(text(event) == "2026-01-09 18:02:11  7  account  custom  alice (Ally)  hi")
  }

  @Test func `a built-in shows its name and what happened`() throws {
    var kick = try notification(#","serverId":"12","attach":{"kickedAccids":["bob"]}"#)
    kick.content.type = 12
    #expect(
      text(.notification(kick, cursor: "c"))
        == "2026-01-09 18:02:11  7  server 12  serverMemberKickDone  -  somebody removed bob from server 12")
    kick.content.type = 9_999
    kick.content.serverId = nil
    kick.content.attach = nil
    #expect(text(.notification(kick, cursor: "c")) == "2026-01-09 18:02:11  7  account  type 9999  -")
  }

  @Test func `other events are lines too`() throws {
    let seven = try #require(MessageID("7"))
    let nine = try #require(MessageID("9"))
    let time = "2026-01-09 18:02:20  "
    #expect(text(.read(.ids([seven, nine]))) == time + "read 7 9")
    #expect(text(.read(.upTo(nine))) == time + "read everything up to 9")
    #expect(text(.read(.upTo(.last))) == time + "read everything")
    #expect(text(.gap(from: seven, to: nine)) == time + "gap: notifications between 7 and 9 may be missing")
    #expect(text(.device(["op": "join"])) == time + #"on another device: {"op":"join"}"#)
    #expect(
      text(.device(["of": "group", "operation": "create", "target": ["groupId": "12"]]))
        == time + "on another device: group create (group 12)")
    let accepted: JSONValue = [
      "of": "server", "operation": "acceptInvitation", "device": "phone", "target": ["serverId": "12"],
    ]
    #expect(text(.device(accepted)) == time + "on device phone: server accept invitation (server 12)")
    #expect(
      text(.updated(try notification(#","body":"new""#), cursor: "c"))
        == time + "updated 7  account  custom  -  new")
  }

  @Test func `as JSON each is an event, a cursor where there is one, and data`() throws {
    let event = FeedEvent.notification(try notification(#","body":"hi""#), cursor: "1.a")
    let line = try JSONLine.text(FeedLine(event))
    #expect(line.hasPrefix(#"{"cursor":"1.a","data":{"body":"hi","messageServerId":"7""#))
    #expect(line.hasSuffix(#""event":"notification"}"#))
    #expect(!line.contains("\n"))
    let update = FeedEvent.updated(try notification(#","body":"new""#), cursor: "1.b")
    #expect(try JSONLine.text(FeedLine(update)).hasPrefix(#"{"cursor":"1.b","data":{"body":"new""#))
    let seven = try #require(MessageID("7"))
    #expect(try JSONLine.text(FeedLine(.read(.upTo(seven)))) == #"{"data":{"upTo":"7"},"event":"read"}"#)
    #expect(
      try JSONLine.text(FeedLine(.kicked(reason: "draining", retry: true)))
        == #"{"data":{"reason":"draining","retry":true},"event":"kicked"}"#)
  }
}
