import Foundation
import TestKit
import Testing

/// Commands for operators of a broker.
@Suite(.timeLimit(.minutes(2))) struct OperatorCommandTests {
  @Test func `why somebody sees something or not is told in sentences`() throws {
    let explanation =
      #"{"visible":false,"reason":"read","detail":"bob marked it read.","facts":{"sentAt":1767981731000,"#
      + #""space":"server:12","audience":"subscribed channel:77 +carol,dave","memberSince":1767981730000,"#
      + #""subscribed":true,"named":false,"read":true,"weather":"fine"}}"#
    let server = try ScriptedServer { _, _ in [.answer(200, explanation)] }
    for words in [["7", "--account", "bob"], ["--message", "7", "--account", "bob"]] {
      let outcome = try Executable().run(["explain"] + words + ["--url", "\(server.url)"])
      #expect(
        outcome.out == """
          bob does not see 7: bob marked it read.
          It was sent at 2026-01-09 18:02:11 to server 12, with the audience "subscribed channel:77 +carol,dave": for subscribers \
          of channel 77, and for carol, dave.
          bob has been a member since 2026-01-09 18:02:10, is subscribed, is not named in it and has \
          marked it read.
          weather  fine

          """)
      #expect(server.requests.last?.target == "/v1/notifications/7/explain?account=bob")
    }
    let json = try Executable().run("explain", "7", "--account", "bob", "--json", "--url", "\(server.url)")
    #expect(json.out == (try ExecutableTests.sorted(explanation)))
  }

  @Test(arguments: [
    ("It went to everybody of the server.", "bob sees 7: it went to everybody of the server.\n"),
    ("Bob is not named.", "Bob sees 7: Bob is not named.\n"),
  ])
  func `a sentence goes on behind the colon`(detail: String, said: String) throws {
    let explanation = #"{"visible":true,"reason":"all","detail":"\#(detail)","facts":{}}"#
    let server = try ScriptedServer { _, _ in [.answer(200, explanation)] }
    let account = String(said.prefix { $0 != " " })
    #expect(
      try Executable().run("explain", "7", "--account", account, "--url", "\(server.url)").out == said)
  }

  @Test func `the list of webhooks shows what each copies`() throws {
    let webhook =
      #"{"webhookId":"12","url":"https://a.example/","format":"belfry","createdAt":0,"enabled":true"#
    let server = try ScriptedServer { _, _ in
      [
        .answer(
          200, #"{"webhooks":[\#(webhook),"types":[100],"spaces":["server:7"]},\#(webhook)}],"cursor":null}"#)
      ]
    }
    let lines = try Executable().run("webhook", "list", "--url", "\(server.url)").out.split(separator: "\n")
    #expect(lines.count == 3 && lines[1].contains("  custom (100)  server:7  "), "\(lines)")
    #expect(lines[2].contains("  all           all       "), "\(lines)")
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

  @Test func `a key's id and the key are told apart, and so is what a key may do`() throws {
    let key = #""keyId":"382947191213498368","name":"billing","createdAt":1767981731000,"createdBy":"root""#
    let server = try ScriptedServer { request, _ in
      request.method == "POST"
        ? [.answer(201, #"{\#(key),"key":"blf_x"}"#)]
        : [.answer(200, #"{"keys":[{\#(key)},{\#(key),"scope":"read send"}],"cursor":null}"#)]
    }
    #expect(
      try Executable().run("key", "create", "--name", "billing", "--url", "\(server.url)").out == """
        created the key; it is shown only this once
        key id      382947191213498368
        name        billing
        scope       all
        created at  2026-01-09 18:02:11
        created by  root
        expires at  never
        key         blf_x

        """)
    #expect(
      try Executable().run("key", "list", "--url", "\(server.url)").out == """
        KEY ID              NAME     SCOPE      CREATED AT           CREATED BY  EXPIRES AT
        382947191213498368  billing  all        2026-01-09 18:02:11  root        never
        382947191213498368  billing  read send  2026-01-09 18:02:11  root        never

        """)
  }

  @Test func `a replay begins with a notification or at a time`() throws {
    let server = try ScriptedServer { _, _ in [.answer(204)] }
    let words = ["webhook", "replay", "12", "--url", "\(server.url)", "--from"]
    for from in ["382919632803229696", "2026-01-09 18:02:11", "24h"] {
      #expect(try Executable().run(words + [from]).code == 0)
    }
    let bodies = server.requests.map(\.body)
    #expect(bodies.prefix(2) == [#"{"from":"382919632803229696"}"#, #"{"from":"1767981731000"}"#])
    let yesterday = try #require(Int64(bodies[2].filter { $0.isNumber }))
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    #expect(yesterday <= now - 86_400_000 && yesterday > now - 2 * 86_400_000)
  }

  @Test func `what a broker did is shown in totals first, without the numbers that are 0`() throws {
    let loops = [(4, 0, 10), (3, 0, 30)].enumerated().map { number, loop in
      #"{"loop":\#(number),"isRedisConnected":true,"redisNodes":3,"redisNodesConnected":\#(3 - number),"#
        + #""sends":\#(loop.0),"duplicates":\#(loop.1),"#
        + #""relays":{"waiting":0,"oldestSeconds":\#(loop.2),"failures":0}}"#
    }
    let answer =
      #"{"version":"1.2.3","broker":"b","uptimeSeconds":60,"keyspace":{"dataVersion":3,"partitions":64,"#
      + #""differences":[{"setting":"secret","here":"one","keyspace":"another"}]},"#
      + #""refusedWrites":[],"workFailures":{"sweep":0},"loops":[\#(loops.joined(separator: ","))]}"#
    let server = try ScriptedServer { _, _ in [.answer(200, answer)] }
    #expect(
      try Executable().run("stats", "--url", "\(server.url)").out == """
        version                1.2.3
        broker                 b
        uptime seconds         60
        keyspace data version  3
        keyspace partitions    64
        refused writes         none

        keyspace differences
        SETTING  HERE  KEYSPACE
        secret   one   another

                               TOTAL  LOOP 0  LOOP 1
        is redis connected     yes    yes     yes
        redis nodes            3      3       3
        redis nodes connected  2      3       2
        sends                  7      4       3
        relays oldest seconds  30     10      30

        4 more are 0; --all shows them

        """)
    let all = try Executable().run("stats", "--all", "--url", "\(server.url)").out
    #expect(all.contains("duplicates             0      0       0\n") && !all.contains("--all"))
    let json = try Executable().run("stats", "--json", "--url", "\(server.url)")
    #expect(json.out == (try ExecutableTests.sorted(answer)))
  }

  /// Its answer has a list with a cursor, and it is no listing: a listing would add `limit`, which the broker refuses.
  @Test func `a room is entered`() throws {
    let room =
      #"{"roomId":"12","subject":"Stage","host":"alice","createTime":1767981731000,"#
      + #""attendees":[{"accid":"bob","role":"listener","microphone":false,"hand":false}],"#
      + #""sequence":"7","cursor":null}"#
    let server = try ScriptedServer { _, _ in [.answer(200, room)] }
    let outcome = try Executable().run("room", "enter", "12", "--as", "bob", "--url", "\(server.url)")
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(
      outcome.out == """
        entered the room: room 12
        room         12
        subject      Stage
        host         alice
        create time  2026-01-09 18:02:11
        sequence     7
        cursor       -

        attendees
        ACCID  ROLE      MICROPHONE  HAND
        bob    listener  no          no

        """)
    #expect(server.requests.last?.target == "/v1/rooms/12/attendees")
  }

  private static let nodes =
    #"{"isCluster":true,"replicasPromised":1,"nodes":[{"place":"10.0.0.1:6379","isConnected":true,"#
    + #""partitions":64,"replicas":[{"place":"10.0.0.2:6379","state":"online","bytesBehind":0}],"#
    + #""usedMemoryBytes":1543000}],"moving":[],"unserved":0}"#
  private static let counts =
    #"{"unread":3,"badge":2,"spaces":[{"space":"server:7","unread":2},{"space":"account:bob","unread":1}],"#
    + #""types":[{"type":100,"unread":2},{"type":99999,"unread":1}],"isCapped":false}"#
  private static let pushers =
    #"{"pushers":[{"deviceId":"phone","kind":"matrix","url":"https://push.example/","appId":"app","#
    + #""pushkey":"abc","createdAt":1767981731000}],"webPushKey":"BGnp"}"#
  private static let group =
    #"{"groupId":"12","name":"Bell ringers","owner":"bob","style":"publicOpen","createTime":1767981731000,"#
    + #""inviteNeedConfirm":true,"maxMembers":200,"isAllMuted":false,"isDisabled":false,"#
    + #""invitations":{"joined":["dave"],"asked":[{"accid":"carol","requestId":"77"}]}}"#

  @Test func `types of a webhook are given and shown by their names`() throws {
    let server = try ScriptedServer { _, _ in
      [.answer(201, #"{"webhookId":"12","types":[5,100],"enabled":true,"format":"belfry","createdAt":0}"#)]
    }
    let words = ["webhook", "create", "--link", "https://a.example", "--url", "\(server.url)", "--types"]
    let made = try Executable().run(words + ["serverCreate,100"])
    #expect(made.out.contains("serverCreate (5), custom (100)\n"), "\(made.out)\(made.err)")
    #expect(server.requests.first?.body.contains(#""types":[5,100]"#) == true)
    let wrong = try Executable().run(words + ["serverCreat"])
    #expect(wrong.code == 2)
    #expect(
      wrong.err.contains("--types must be the code or the name of a type, and no type is called serverCreat"))
    #expect(wrong.err.contains("perhaps: --types serverCreate\n"))
  }

  @Test func `of many accounts in an answer some are named`() throws {
    let names = (1...2_100).map { "\"a\($0)\"" }.joined(separator: ",")
    let server = try ScriptedServer { _, _ in [.answer(200, #"{"added":[\#(names)]}"#)] }
    let words = ["member", "add", "12", "a1", "--url", "\(server.url)"]
    let outcome = try Executable().run(words)
    #expect(
      outcome.out.contains("added  2100: a1, a2,") && outcome.out.hasSuffix(", a20, …\n"), "\(outcome.out)")
    #expect(try Executable().run(words + ["--json"]).out.contains(#""a2100""#))
  }

  @Test(arguments: [
    (
      ["cluster"], nodes,
      """
      is cluster         yes
      replicas promised  1
      moving             none
      unserved           0

      nodes
      PLACE          IS CONNECTED  PARTITIONS  REPLICAS                               USED MEMORY BYTES
      10.0.0.1:6379  yes           64          10.0.0.2:6379, online, 0 bytes behind  1543000

      """
    ),
    (
      ["notification", "counts"], counts,
      """
      unread     3
      badge      2
      is capped  no

      spaces
      SPACE        UNREAD
      server 7     2
      account bob  1

      types
      TYPE          UNREAD
      custom (100)  2
      type 99999    1

      """
    ),
    (
      ["account", "pushers"], pushers,
      """
      web push key  BGnp

      pushers
      DEVICE  KIND    LINK                   APP  PUSHKEY  CREATED AT
      phone   matrix  https://push.example/  app  abc      2026-01-09 18:02:11

      """
    ),
    (
      ["group", "create", "--name", "Bell ringers", "--style", "publicOpen", "--invitees", "carol,dave"],
      group,
      """
      created the group
      group                12
      name                 Bell ringers
      owner                bob
      style                publicOpen
      create time          2026-01-09 18:02:11
      invite need confirm  yes
      max members          200
      is all muted         no
      is disabled          no
      invitations joined   dave

      invitations asked
      ACCID  REQUEST
      carol  77

      """
    ),
  ])
  func `a list of objects in an answer is a table of its own`(
    words: [String], answer: String, text: String
  ) throws {
    let server = try ScriptedServer { _, _ in [.answer(200, answer)] }
    let outcome = try Executable().run(words + ["--url", "\(server.url)"])
    #expect(outcome.out == text, "\(outcome.err)")
  }
}
