import BelfryModel
import Glibc
import Testing

@testable import BelfryServer

/// What was answered.
struct Answer {
  let status: Int
  /// By lowercased name.
  let headers: [String: String]
  let body: String

  /// Null when the body is no JSON.
  var json: JSONValue { (try? JSONParser.value(of: Array(body.utf8))) ?? .null }
  var code: String? { json["code"]?.text }
  var field: String? { json["field"]?.text }
}

/// One HTTP connection, byte by byte, so that it can also say what no client library would. It blocks, with
/// a timeout far beyond what a working broker needs.
final class TestConnection {
  private var descriptor: Int32
  private var received: [UInt8] = []

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var timeout = timeval(tv_sec: 30, tv_usec: 0)
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = unsafe withUnsafePointer(to: &address) {
      unsafe Glibc.connect(
        descriptor, UnsafeRawPointer($0).assumingMemoryBound(to: sockaddr.self),
        socklen_t(MemoryLayout<sockaddr_in>.size))
    }
    guard result == 0 else { throw TestFailure("nobody listens on port \(port)") }
  }

  deinit { close() }

  func close() {
    guard descriptor >= 0 else { return }
    Glibc.close(descriptor)
    descriptor = -1
  }

  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      // The broker may have said all it has to say and hung up; its answer is still to be read.
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

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
    let lines = try read(through: "\r\n\r\n").split(separator: "\r\n")
    let status = try #require(lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
    }
    let length = headers["content-length"].flatMap { Int($0) } ?? 0
    let body = hasBody && status != 204 ? try read(count: length) : ""
    return Answer(status: status, headers: headers, body: body)
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
      let size = try #require(Int(try read(through: "\r\n").dropLast(), radix: 16))
      let chunk = try readBytes(size + 2)
      if size == 0 { return nil }
      text += chunk.dropLast(2)
    }
  }

  // MARK: Bytes

  private func receive() -> Bool {
    var piece = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe recv(descriptor, &piece, piece.count, 0)
    guard count > 0 else { return false }
    received += piece[..<count]
    return true
  }

  private func read(through end: String) throws -> String {
    while true {
      if let range = received.firstRange(of: Array(end.utf8)) {
        return String(decoding: try readBytes(range.upperBound), as: UTF8.self)
      }
      guard receive() else { throw TestFailure("the connection ended early") }
    }
  }

  private func read(count: Int) throws -> String { String(decoding: try readBytes(count), as: UTF8.self) }

  private func readBytes(_ count: Int) throws -> [UInt8] {
    while received.count < count {
      guard receive() else { throw TestFailure("the connection ended early") }
    }
    defer { received.removeFirst(count) }
    return Array(received[..<count])
  }

  /// Whether the broker has closed the connection, after at most what is still to come.
  func ends() -> Bool {
    while receive() {}
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) == 0 || errno == ECONNRESET
  }
}
