import BelfryModel
import TestKit
import Testing

@testable import BelfryServer

/// An answer of the broker.
struct Answer {
  let status: Int
  /// The headers by their names in lower case.
  let headers: [String: String]
  let body: String

  /// Null when the body is no JSON.
  var json: JSONValue { (try? JSONParser.value(of: Array(body.utf8))) ?? .null }
  var code: String? { json["code"]?.text }
  var field: String? { json["field"]?.text }
}

/// A connection to a broker, and the requests of the tests on it.
final class TestConnection {
  private let connection: RawConnection

  init(port: UInt16) throws { connection = try RawConnection(port: port) }

  func close() { connection.close() }

  func send(_ bytes: [UInt8]) { connection.send(bytes) }

  func ask(
    _ method: String, _ path: String, as token: String? = nil, _ body: String? = nil,
    headers: [(String, String)] = []
  ) throws -> Answer {
    begin(method, path, as: token, body.map { Array($0.utf8) }, headers: headers)
    let answer = try answer(hasBody: method != "HEAD")
    Conformance.check(method, path, answer)
    return answer
  }

  /// Sends a request and does not wait.
  func begin(
    _ method: String, _ path: String, as token: String? = nil, _ body: [UInt8]? = nil,
    headers: [(String, String)] = []
  ) {
    var text = "\(method) \(path) HTTP/1.1\r\nHost: test\r\n"
    if let token { text += "Authorization: Bearer \(token)\r\n" }
    for (name, value) in headers { text += "\(name): \(value)\r\n" }
    if let body {
      if !headers.contains(where: { $0.0 == "Content-Type" }) { text += "Content-Type: application/json\r\n" }
      text += "Content-Length: \(body.count)\r\n"
    }
    send(Array((text + "\r\n").utf8) + (body ?? []))
  }

  func answer(hasBody: Bool = true) throws -> Answer {
    let head = try connection.readHead()
    // For a stream only the head is read, because its body has no end.
    let length = hasBody && head.status != 204 ? head.headers["content-length"].flatMap { Int($0) } ?? 0 : 0
    let body = String(decoding: try connection.read(count: length), as: UTF8.self)
    return Answer(status: head.status, headers: head.headers, body: body)
  }

  // MARK: Streams

  struct Event: Hashable {
    var name = ""
    var data = ""
    var id: String?

    var json: JSONValue { (try? JSONParser.value(of: Array(data.utf8))) ?? .null }
  }

  /// The next event; comments and `retry:` are passed over. Nil when the stream has ended.
  func nextEvent() throws -> Event? {
    var event = Event()
    while let line = try nextLine() {
      if line.isEmpty {
        if !event.name.isEmpty { return event }
        event = Event()
      }
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      let value = String(parts[1].dropFirst())
      switch parts[0] {
      case "event": event.name = value
      case "data": event.data = value
      case "id": event.id = value
      default: break
      }
    }
    return nil
  }

  private var text: [UInt8] = []

  private func nextLine() throws -> String? {
    while true {
      if let end = text.firstIndex(of: UInt8(ascii: "\n")) {
        defer { text.removeSubrange(...end) }
        return String(decoding: text[..<end], as: UTF8.self)
      }
      guard let chunk = try connection.readChunk(), !chunk.isEmpty else { return nil }
      text += chunk
    }
  }

  /// True if the broker has closed the connection, after at most the bytes that are still to come.
  func ends() -> Bool { connection.ends() }
}
