import BelfryBytes
import BelfryHTTP
import BelfryInterface
import BelfryModel
import Testing

@testable import BelfryServer

/// The rules that tell pages apart, without a broker.
@Suite struct BrowserRuleTests {
  @Test(
    arguments: [
      "https://app.example", "http://localhost:8090", "https://app.example:8443", "http://[::1]:8090",
      "http://127.0.0.1", "https://xn--bcher-kva.example", "http://a.example:443",
    ])
  func originsAsBrowsersWriteThem(text: String) {
    #expect(WebOrigin(text)?.description == text)
  }

  @Test(
    arguments: [
      "*", "null", "", "https://", "https://app.example/", "https://app.example/page", "https://App.example",
      "HTTPS://app.example", "https://app.example:443", "http://app.example:80", "https://app.example:",
      "https://app.example:0", "https://app.example:70000", "https://app.example:08443", "app.example",
      "ftp://app.example", "https://*.example", "https://user@app.example", "https://app.example?x",
      "https://bücher.example", "https://[::1", "https://[app]", " https://app.example", "https://a b",
      "https://app.example:8443:1", "file://", "https://" + String(repeating: "a", count: 300),
    ])
  func whatNoBrowserWritesIsNoOrigin(text: String) {
    #expect(WebOrigin(text) == nil)
  }

  @Test func hostsWithoutAPortMeanAllPorts() throws {
    let any = try #require(HostName("belfry.example"))
    let one = try #require(HostName("belfry.example:8443"))
    for (text, byAny, byOne) in [
      ("belfry.example", true, false), ("BELFRY.Example:8443", true, true),
      ("belfry.example:80", true, false),
      ("belfry.example.", false, false), ("evil.example", false, false), ("xbelfry.example", false, false),
    ] {
      let asked = try #require(HostName(Substring(text)))
      #expect((any.means(asked), one.means(asked)) == (byAny, byOne), "\(text)")
    }
    for text in ["", ":80", "a:", "a:b", "a/b", "[::1", "a@b", "[]", "a:99999"] {
      #expect(HostName(Substring(text)) == nil, "\(text)")
    }
  }

  @Test func whatIsTheLoopback() {
    for (host, isLoopback) in [
      ("localhost", true), ("LOCALHOST:8080", true), ("127.0.0.1:1", true), ("127.9.9.9", true),
      ("[::1]:80", true),
      ("127.evil.example", false), ("localhost.evil.example", false), ("10.0.0.1", false), ("[::2]", false),
    ] {
      #expect(HostName(Substring(host))?.isLoopback == isLoopback, "\(host)")
    }
  }

  @Test func aCookieAmongOthers() throws {
    let cookie = SessionCookie.secure
    for (header, value) in [
      ("__Host-belfry=a.b-c_d", "a.b-c_d"), ("x=1; __Host-belfry=t; y=2", "t"), ("__Host-belfry=", ""),
      ("x=__Host-belfry=t", nil), ("__host-belfry=t", nil), ("__Host-belfry", nil), ("", nil), (";;; ;", nil),
      ("a__Host-belfry=t", nil), ("belfry-session=t", nil), ("\t__Host-belfry=t \t; a=b", "t"),
      ("__Host-belfry =t", nil), ("__Host-belfry=a=b", "a=b"),
    ] as [(String, String?)] {
      #expect(try cookie.value(in: header)?.string == value, "\(header)")
    }
    for header in ["__Host-belfry=a; __Host-belfry=b", "__Host-belfry=a;__Host-belfry=a"] {
      let refusal = #expect(throws: Refusal.self) { try cookie.value(in: header) }
      #expect(refusal?.field == "Cookie")
    }
  }

  @Test func whatACookieHolds() {
    #expect(SessionCookie.holds(UTF8Text(String(repeating: "a", count: SessionCookie.tokenBytesMax))))
    #expect(!SessionCookie.holds(UTF8Text(String(repeating: "a", count: SessionCookie.tokenBytesMax + 1))))
    for text in ["a;b", "a b", "a,b", "a\"", "é", "a\\", "a=b"] {
      #expect(!SessionCookie.holds(UTF8Text(text)))
    }
    // The limit of browsers is of name and value together.
    #expect(SessionCookie.secure.name.utf8.count + SessionCookie.tokenBytesMax <= 4_096)
  }

  @Test func aCallerIsKeptWithATicketAsItIs() throws {
    let (bob, phone) = ("bob" as AccountID, "phone" as DeviceID)
    let key = KeyIdentity(text: "key")
    let callers = [
      Caller(
        actor: Actor(account: bob, device: phone), role: .user, subject: "bob",
        credential: .key(key, TokenIssue(account: bob, atMilliseconds: 5)), scopes: [.read],
        expiresAtSeconds: 9),
      Caller(
        actor: Actor(account: bob), role: .user, subject: "bob",
        credential: .key(key, TokenIssue(account: bob, atMilliseconds: nil)), scopes: nil, expiresAtSeconds: 9
      ),
      Caller(
        actor: Actor(account: bob, isTrusted: true), role: .app, subject: "back end",
        credential: .key(key, nil),
        scopes: [], expiresAtSeconds: 9),
      Caller(
        actor: Actor(account: nil, isTrusted: true), role: .app, subject: "x",
        credential: .backEndKey(EntityID.random()), scopes: nil,
        expiresAtSeconds: TokenClaims.timeMaxSeconds),
    ]
    for caller in callers { #expect(Caller(record: caller.record) == caller) }
    for record in ["", "{}", "[]", #"{"subject":"bob","role":"user","expiresAt":9,"key":"k"}"#] {
      #expect(Caller(record: record) == nil, "\(record)")
    }
  }

  @Test func ticketsAreAllAlikeAndNoTwoAreTheSame() {
    let tickets = (0..<1_000).map { _ in StreamTicket.make() }
    #expect(Set(tickets).count == tickets.count)
    for ticket in tickets {
      #expect(StreamTicket(UTF8Text(ticket.text)) == ticket)
      #expect(!ticket.name.utf8.elementsEqual(ticket.text.utf8))
    }
    let one = tickets[0].text
    for text in ["", "x", one + "A", String(one.dropLast()), one + "=", one.replacing("A", with: "+") + " "] {
      #expect(StreamTicket(UTF8Text(text)) == nil, "\(text)")
    }
  }

  @Test func aDocumentIsNotSentToWhomHasIt() throws {
    let document = StaticDocument(["a": 1])
    let tag = try #require(document.answer(unless: nil).headers.first { $0.name == "ETag" }?.value)
    for known in [tag, "W/\(tag)", "\"x\", \(tag)", "\"x\" ,W/\(tag) ", "*"] {
      let answer = document.answer(unless: known)
      #expect(answer.status == 304 && answer.body.isEmpty, "\(known)")
      #expect(answer.headers.contains { $0.name == "ETag" && $0.value == tag })
    }
    for known in ["", "\"x\"", String(tag.dropLast()), "w/\(tag)", "\(tag)x"] {
      #expect(document.answer(unless: known).status == 200, "\(known)")
    }
    #expect(StaticDocument(["a": 2]).answer(unless: tag).status == 200)
  }
}
