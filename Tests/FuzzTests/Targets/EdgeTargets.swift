import BelfryBytes
import BelfryModel
import ModelSamples
import TestKit

@testable import BelfryClient
@testable import BelfryHTTP
@testable import BelfryServer

extension FuzzTarget {
  /// The inputs from clients to a broker, from a broker to clients, and from an operator.
  static let edges: [FuzzTarget] = [
    FuzzTarget("JSON of a request", sample: { $0.contentJSON() }) { bytes in
      guard let value = try? JSONParser.value(of: bytes) else { return false }
      let lenient = RecordJSON.value(JSONValue.self, String(decoding: bytes, as: UTF8.self))
      guard let lenient, RecordJSON.text(lenient) == RecordJSON.text(value) else {
        throw Wrong("strictly it is \(value), leniently \(String(describing: lenient))")
      }
      return true
    },
    FuzzTarget("requests of a connection", sample: { $0.httpRequests() }) { bytes in
      let whole = ReadRequests(bytes, inPiecesOf: bytes.count)
      for size in [1, 2, 7, 64] where ReadRequests(bytes, inPiecesOf: size) != whole {
        throw Wrong("in pieces of \(size) it is not what it is as a whole")
      }
      return whole.isSound && !whole.requests.isEmpty
    },
    FuzzTarget("target of a request", sample: { $0.requestTarget() }) { bytes in
      RequestTarget(String(decoding: bytes, as: UTF8.self)) != nil
    },
    FuzzTarget("token", sample: { $0.token() }) { bytes in
      let claims = try? keys.verify(UTF8Text(String(decoding: bytes, as: UTF8.self)), nowSeconds: nowSeconds)
        .claims
      guard let claims else { return false }
      guard issuedSubjects.contains(claims.subject) else { throw Wrong("\(claims) was never signed") }
      return true
    },
    FuzzTarget("configuration file", sample: { $0.configurationFile() }) { bytes in
      guard let values = try? ConfigurationFile.parse(bytes, path: "belfry.json") else { return false }
      var configuration = Configuration()
      _ = try? configuration.apply(values)
      return true
    },
    text(
      "address to listen on", { ListenAddress(host: $0.pick(["localhost", "::1", "0.0.0.0"]), port: 8_080) },
      read: { ListenAddress($0) }, write: { $0.description }),
    FuzzTarget("event stream", sample: { $0.eventStream() }) { bytes in
      let whole = items(bytes, inPiecesOf: max(1, bytes.count))
      guard items(bytes, inPiecesOf: 1) == whole else {
        throw Wrong("in pieces it is not what it is as a whole")
      }
      for case .event(let name, let data, let id) in whole ?? [] {
        _ = FeedEvent(event: name, data: data, id: id)
      }
      return whole?.isEmpty == false
    },
  ]

  /// The headers that browsers send by themselves.
  static let browsers: [FuzzTarget] = [
    FuzzTarget("session cookie", sample: { $0.cookieHeader() }) { bytes in
      let header = String(decoding: bytes, as: UTF8.self)
      guard let value = try? SessionCookie.secure.value(in: header) else { return false }
      // It is there once, between separators.
      let marks = Array("__Host-belfry=\(value)".utf8)
      guard !value.utf8.contains(UInt8(ascii: ";")), header.utf8.count >= marks.count else {
        throw Wrong("\(value) in \(header)")
      }
      return true
    },
    FuzzTarget("origin", sample: { Array($0.pick(origins).utf8) }) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      guard let origin = WebOrigin(text) else { return false }
      guard origin.description.utf8.elementsEqual(text.utf8) else {
        throw Wrong("\(text) is read as \(origin)")
      }
      return true
    },
    FuzzTarget("host", sample: { Array($0.pick(["a.example:80", "[::1]:8080", "LOCALHOST"]).utf8) }) {
      bytes in
      guard let host = HostName(Substring(String(decoding: bytes, as: UTF8.self))) else { return false }
      guard HostName(Substring(host.description)) == host, host.means(host) else { throw Wrong("\(host)") }
      return true
    },
    text(
      "ticket", { _ in StreamTicket.make() }, read: { StreamTicket(UTF8Text($0)) }, write: { $0.text }),
    text(
      "caller kept with a ticket",
      { random in
        Caller(
          actor: Actor(account: AccountID("bob"), isTrusted: false), role: .user, subject: "bob",
          credential: .key(
            KeyIdentity(text: "k"), TokenIssue(account: "bob", atMilliseconds: 1)),
          scopes: random.oneIn(2) ? [.read] : nil, expiresAtSeconds: nowSeconds)
      }, read: { Caller(record: $0) }, write: { $0.record }),
  ]

  private static let origins = ["https://app.example", "http://[::1]:8090", "http://localhost:8090"]

  private static func items(_ bytes: [UInt8], inPiecesOf size: Int) -> [FeedItem]? {
    var parser = ServerSentEventParser(limitBytes: 4 << 10)
    var items: [FeedItem] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      do {
        try parser.parse(bytes[start..<min(start + size, bytes.count)], into: &items)
      } catch {
        return nil
      }
    }
    return items
  }

  fileprivate static let signer = TokenSigner(secret: Array("a secret for nothing but these tests".utf8))
  fileprivate static let keys = TokenKeys(signer)
  fileprivate static let issuedSubjects = ["ann", "bob"]
  fileprivate static let nowSeconds: Int64 = 1_763_700_000
}

extension SeededGenerator {
  fileprivate mutating func requestTarget() -> [UInt8] {
    let target = pick([
      "/", "*", "/v1/servers/77/members?limit=10&cursor=a%20b+c", "/v1/notifications/stream?after=1.abc",
      "http://example.org/v1/notifications/read", "/v1/servers/%E9%90%98/subscription?",
    ])
    return Array(target.utf8)
  }

  fileprivate mutating func cookieHeader() -> [UInt8] {
    Array(
      pick(["__Host-belfry=a.b.c", "a=b; __Host-belfry=x-_y;c=d"])
        .utf8)
  }

  fileprivate mutating func token() -> [UInt8] {
    let claims = TokenClaims(
      subject: pick(FuzzTarget.issuedSubjects), role: pick(TokenClaims.Role.allCases),
      device: oneIn(2) ? DeviceID("phone") : nil, expiresAtSeconds: FuzzTarget.nowSeconds + 60,
      issuedAtMilliseconds: oneIn(2) ? FuzzTarget.nowSeconds * 1_000 : nil)
    return Array(FuzzTarget.signer.mint(claims).utf8)
  }

  fileprivate mutating func configurationFile() -> [UInt8] {
    let file = pick([
      "{}",
      """
      // A comment.
      { "listen": "127.0.0.1:8080", // another
        "redis": "redis://localhost", "loops": 2,
        "embeddedRedis": { "appendfsync": "everysec" } }
      """,
    ])
    return Array(file.utf8)
  }

  fileprivate mutating func eventStream() -> [UInt8] {
    var stream = ": hello\nretry: 1000\n\n"
    for _ in 0..<1 + below(4) {
      let id = messageID()
      stream += pick([
        "event: notification\r\nid: \(cursor().text)\r\ndata: "
          + "{\"messageServerId\":\"\(id)\",\"time\":1,\"type\":100,\"toType\":1}\r\n\r\n",
        "event: read\ndata: {\"upTo\":\"\(id)\"}\n\n",
        "event: gap\ndata: {\"from\":\"1\",\"to\":\"\(id)\"}\n\n",
        "event: kicked\ndata: {\"reason\":\"tokenExpired\",\ndata: \"retry\":false}\r\r", "data\n\n",
        ": heartbeat\n\n",
      ])
    }
    return Array(stream.utf8)
  }
}
