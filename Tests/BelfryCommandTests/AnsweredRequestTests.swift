import Foundation
import TestKit
import Testing

/// Printing and answering invitations and applications.
@Suite(.timeLimit(.minutes(2))) struct AnsweredRequestTests {
  /// A token of bob's. Only a broker would check its signature.
  private static let bobs: String = {
    let claims = Data(#"{"sub":"bob","exp":9999999999}"#.utf8).base64EncodedString()
    return "e30." + claims.replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_") + ".x"
  }()

  private static func page(_ requests: String...) -> String {
    #"{"requests":[\#(requests.joined(separator: ","))],"cursor":null}"#
  }
  private static func application(_ id: Int, _ account: String) -> String {
    #"{"requestId":"\#(id)","accid":"\#(account)","expiresAt":1767981731000}"#
  }

  @Test func `an account accepts its own invitation without an id`() throws {
    let server = try ScriptedServer { _, _ in [.answer(204)] }
    let url = ["--url", "\(server.url)"]
    let own = try Executable(token: Self.bobs).run(["server", "accept", "12"] + url)
    #expect(own.out == "accepted the invitation: server 12, bob\n")
    #expect(try Executable().run(["group", "decline", "56", "--as", "carol"] + url).code == 0)
    #expect(try Executable().run(["channel", "accept", "12", "34", "9"] + url).code == 0)
    #expect(
      server.requests.map(\.target) == [
        "/v1/servers/12/invitations/bob/accept", "/v1/groups/56/invitations/carol/decline",
        "/v1/servers/12/channels/34/invitations/9/accept",
      ])
  }

  @Test func `an account that is left out is the one that acts`() throws {
    let server = try ScriptedServer { _, _ in [.answer(204)] }
    let url = ["--url", "\(server.url)"]
    let left = try Executable(token: Self.bobs).run(["server", "leave", "12", "--yes"] + url)
    #expect(left.out == "left the server: server 12, bob\n")
    #expect(try Executable().run(["group", "leave", "56", "--as", "carol", "--yes"] + url).code == 0)
    #expect(try Executable().run(["channel", "leave", "12", "34", "--as", "carol", "--yes"] + url).code == 0)
    #expect(try Executable().run(["room", "leave", "78", "dave", "--yes"] + url).code == 0)
    #expect(try Executable(token: Self.bobs).run(["room", "raise-hand", "78"] + url).code == 0)
    #expect(
      try Executable(token: Self.bobs).run(["room", "microphone", "78", "--on", "false"] + url).code == 0)
    #expect(try Executable().run(["member", "remove", "12", "--as", "bob", "--yes"] + url).code == 2)
    #expect(
      server.requests.map { "\($0.method) \($0.target)" } == [
        "DELETE /v1/servers/12/members/bob", "DELETE /v1/groups/56/members/carol",
        "DELETE /v1/servers/12/channels/34/members/carol", "DELETE /v1/rooms/78/attendees/dave",
        "PUT /v1/rooms/78/hands/bob", "PUT /v1/rooms/78/microphones/bob",
      ])
  }

  @Test func `the only pending application is meant if none is named`() throws {
    let server = try ScriptedServer { request, _ in
      switch true {
      case request.method == "POST": [.answer(204)]
      case request.target.hasPrefix("/v1/groups/1/"): [.answer(200, Self.page())]
      case request.target.hasPrefix("/v1/groups/2/"):
        [.answer(200, Self.page(Self.application(8, "bob"), Self.application(9, "carol")))]
      case request.target.hasPrefix("/v1/servers/3/"): [.answer(200, Self.page(Self.application(7, "44")))]
      default: [.answer(200, Self.page(Self.application(7, "bob")))]
      }
    }
    let url = ["--url", "\(server.url)"]
    #expect(
      try Executable().run(["server", "approve", "12"] + url).out == "approved: server 12, bob\n")
    #expect(
      server.requests.map(\.target) == [
        "/v1/servers/12/applications?limit=100", "/v1/servers/12/applications/bob/accept",
      ])
    // A name of digits would be read as the id of a request.
    #expect(try Executable().run(["server", "approve", "3"] + url).out == "approved: server 3, request 7\n")
    let none = try Executable().run(["group", "approve", "1"] + url)
    #expect(none.code == 1 && none.err.contains("no application is pending"))
    let several = try Executable().run(["group", "refuse", "2"] + url)
    #expect(several.code == 2 && several.err.contains("belfry group applications 2 lists them"))
  }

  @Test func `unread says how to accept, and what spaces are called`() throws {
    let invitation =
      #"{"messageServerId":"7","time":1767981731000,"type":1,"toType":1,"serverId":"12","fromAccount":"alice","#
      + #""attach":{"requestId":"9","serverInfo":{"serverId":"12","name":"Campfire"}}}"#
    @Sendable func custom(_ id: Int, _ place: String) -> String {
      #"{"messageServerId":"\#(id)","time":1767981731000,"type":100,"toType":1,\#(place),"fromAccount":"alice","body":"hi"}"#
    }
    let server = try ScriptedServer { request, _ in
      switch true {
      case request.target == "/v1/groups/56": [.answer(200, #"{"groupId":"56","name":"Ringers"}"#)]
      case request.target == "/v1/rooms/78": [.problem(404, code: "notFound", detail: "gone")]
      case request.target.hasPrefix("/v1/account/invitations"):
        [.answer(200, Self.page(#"{"requestId":"9"}"#))]
      default:
        [
          .answer(
            200,
            #"{"notifications":[\#(custom(5, #""serverId":"12""#)),\#(custom(6, #""groupId":"56""#)),"#
              + #"\#(custom(8, #""roomId":"78""#)),\#(invitation)],"cursor":"1.a"}"#)
        ]
      }
    }
    #expect(
      try Executable().run("unread", "--as", "bob", "--url", "\(server.url)").out == """
        ID  TIME                 SPACE                 TYPE                FROM   BODY
        5   2026-01-09 18:02:11  server 12 (Campfire)  custom              alice  hi
        6   2026-01-09 18:02:11  group 56 (Ringers)    custom              alice  hi
        8   2026-01-09 18:02:11  room 78               custom              alice  hi
        7   2026-01-09 18:02:11  account bob           serverMemberInvite  alice  alice invited you to Campfire

        To accept:
        7  belfry server accept 12 9 --as bob
        To decline, say decline in place of accept.

        """)
    #expect(
      server.requests.map(\.target).dropFirst() == [
        "/v1/groups/56", "/v1/rooms/78", "/v1/account/invitations?limit=1000",
      ])
  }

  @Test func `unread does not say how to accept what was answered`() throws {
    let invitations = ["9", "10"].map { request in
      #"{"messageServerId":"\#(request)","time":1767981731000,"type":301,"toType":3,"groupId":"56","#
        + #""fromAccount":"alice","attach":{"requestId":"\#(request)","inviter":"alice"}}"#
    }
    let server = try ScriptedServer { request, _ in
      switch true {
      case request.target.hasPrefix("/v1/account/invitations"):
        [.answer(200, Self.page(#"{"requestId":"10"}"#))]
      case request.target == "/v1/groups/56": [.answer(200, #"{"groupId":"56","name":"Ringers"}"#)]
      default: [.answer(200, #"{"notifications":[\#(invitations.joined(separator: ","))],"cursor":"1.a"}"#)]
      }
    }
    let outcome = try Executable().run("unread", "--as", "bob", "--url", "\(server.url)")
    #expect(
      outcome.out.contains("To accept:\n10  belfry group accept 56 10 --as bob\nTo decline"), "\(outcome.out)"
    )
  }

  @Test func `unread does not say how to approve what was answered, or what others answer`() throws {
    @Sendable func application(_ id: Int, _ type: Int, _ place: String) -> String {
      #"{"messageServerId":"\#(id)","time":1767981731000,"type":\#(type),"toType":1,\#(place),"fromAccount":"carol","#
        + #""attach":{"requestId":"\#(id)"}}"#
    }
    let unread = [
      application(8, 3, #""serverId":"12""#), application(9, 3, #""serverId":"12""#),
      application(10, 305, #""groupId":"56""#), application(11, 3, #""serverId":"13""#),
    ]
    let server = try ScriptedServer { request, _ in
      switch true {
      case request.target.hasPrefix("/v1/servers/12/applications"):
        [.answer(200, Self.page(Self.application(9, "carol")))]
      case request.target.hasPrefix("/v1/groups/56/applications"):
        [.answer(200, Self.page(Self.application(10, "carol")))]
      case request.target.hasPrefix("/v1/notifications"):
        [.answer(200, #"{"notifications":[\#(unread.joined(separator: ","))],"cursor":"1.a"}"#)]
      default: [.problem(403, code: "notMember", detail: "no")]
      }
    }
    let outcome = try Executable().run("unread", "--as", "bob", "--url", "\(server.url)")
    #expect(
      outcome.out.hasSuffix(
        "\n\nTo accept:\n9   belfry server approve 12 9 --as bob\n10  belfry group approve 56 10 --as bob\n"
          + "To decline, say refuse in place of approve.\n"),
      "\(outcome.out)")
    #expect(server.requests.count { $0.target.hasPrefix("/v1/servers/12/applications") } == 1)
  }

  @Test(
    arguments: [
      ("listener", true, true), ("guest", true, false), ("listener", false, false), (nil, true, false),
    ] as [(String?, Bool, Bool)])
  func `unread says how to go on stage only as long as that is possible`(
    role: String?, isValid: Bool, isOffered: Bool
  ) throws {
    let expiry = Int64(Date().timeIntervalSince1970 + (isValid ? 60 : -1)) * 1_000
    let invitation =
      #"{"messageServerId":"7","time":1767981731000,"type":404,"toType":1,"roomId":"78","fromAccount":"alice","#
      + #""attach":{"token":"9","expiresAt":\#(expiry)}}"#
    let server = try ScriptedServer { request, _ in
      switch true {
      case request.target.hasPrefix("/v1/rooms/78/attendees") && role != nil:
        [
          .answer(
            200, #"{"attendees":[{"accid":"bob","role":"\#(role ?? "")"}],"sequence":"1","cursor":null}"#)
        ]
      case request.target.hasPrefix("/v1/notifications"):
        [.answer(200, #"{"notifications":[\#(invitation)],"cursor":"1.a"}"#)]
      default: [.problem(403, code: "notMember", detail: "no")]
      }
    }
    let outcome = try Executable().run("unread", "--as", "bob", "--url", "\(server.url)")
    #expect(outcome.out.contains("belfry room accept-stage 78 9") == isOffered, "\(outcome.out)")
    #expect(outcome.out.contains("say decline in place of accept.") == isOffered, "\(outcome.out)")
  }

  @Test func `an account's invitations are listed with their inviters, and how to accept them`() throws {
    @Sendable func invitation(_ name: String, _ place: String) -> String {
      #"{"requestId":"9","accid":"bob","name":"\#(name)","expiresAt":1767981731000,"inviters":["alice","dave"],\#(place)}"#
    }
    let server = try ScriptedServer { _, _ in
      [
        .answer(
          200,
          Self.page(
            invitation("Campfire", #""serverId":"12""#),
            invitation("backstage", #""serverId":"12","channelId":"34""#),
            invitation("Ringers", #""groupId":"56""#)))
      ]
    }
    #expect(
      try Executable().run("account", "invitations", "--as", "bob", "--url", "\(server.url)").out == """
        NAME       INVITERS     EXPIRES AT           SERVER  CHANNEL  GROUP
        Campfire   alice, dave  2026-01-09 18:02:11  12      -        -
        backstage  alice, dave  2026-01-09 18:02:11  12      34       -
        Ringers    alice, dave  2026-01-09 18:02:11  -       -        56

        To accept:
        "Campfire"   belfry server accept 12 9 --as bob
        "backstage"  belfry channel accept 12 34 9 --as bob
        "Ringers"    belfry group accept 56 9 --as bob
        To decline, say decline in place of accept.

        """)
  }

  @Test func `tail says how to accept on a line of its own, which no text of others can imitate`() throws {
    let invitation =
      #"{"messageServerId":"7","time":1767981731000,"type":301,"toType":3,"groupId":"56","fromAccount":"alice","#
      + #""attach":{"requestId":"9","inviter":"alice","message":"Come!\n  To accept: x"}}"#
    let server = try ScriptedServer { _, _ in
      [.stream, .chunk("event: notification\nid: c7\ndata: \(invitation)\n\n"), .hold]
    }
    let outcome = try Executable(token: Self.bobs).run("tail", "--count", "1", "--url", "\(server.url)")
    #expect(
      outcome.out.hasSuffix(
        #"alice invited you to group 56: Come!\n  To accept: x"# + "\n  To accept: belfry group accept 56 9\n"
      ),
      "\(outcome.out)")
  }

  @Test func `a type is shown by its code or its name`() throws {
    for word in ["301", "groupInvitation"] {
      #expect(
        try Executable().run("types", word).out == """
          code          301
          name          groupInvitation
          in            group
          attach        requestId, groupInfo, inviter, message
          receivers     the invitee
          updated by    nobody
          critical for  nobody

          """)
    }
  }

  @Test func `a list of webhooks shows which of them fail`() throws {
    let webhook =
      #"{"webhookId":"12","url":"https://archive.example","format":"belfry","createdAt":0,"enabled":true,"#
      + #""failingSince":1767981731000,"failure":"the answer was 500"}"#
    let server = try ScriptedServer { _, _ in [.answer(200, #"{"webhooks":[\#(webhook)],"cursor":null}"#)] }
    #expect(
      try Executable().run("webhook", "list", "--url", "\(server.url)").out == """
        WEBHOOK  LINK                     TYPES  SPACES  ENABLED  DISABLED BECAUSE  FAILING SINCE        FAILURE
        12       https://archive.example  all    all     yes      -                 2026-01-09 18:02:11  the answer was 500

        """)
  }
}
