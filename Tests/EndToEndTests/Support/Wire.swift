import BelfryTransport
import Foundation
import TestKit

/// A connection to a broker, and the requests of the tests on it.
final class Wire: @unchecked Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let connection: RawConnection

  init(
    port: UInt16, timeoutSeconds: Int = 60, receiveBytes: Int32? = nil,
    tls: TLSContext? = TestTLS.shared?.context
  ) throws {
    connection = try RawConnection(
      port: port, timeoutSeconds: timeoutSeconds, receiveBytes: receiveBytes, tls: tls)
  }

  func setTimeout(seconds: Int = 0, microseconds: Int = 0) {
    connection.setTimeout(seconds: seconds, microseconds: microseconds)
  }

  func cut() { connection.cut() }

  // MARK: Writing

  func write(_ text: String) throws { try write(Array(text.utf8)) }

  func write(_ bytes: [UInt8]) throws {
    guard connection.send(bytes) else { throw Failure(description: "cannot write") }
  }

  func writeRequest(_ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8]? = nil)
    throws
  {
    var text = "\(method) \(path) HTTP/1.1\r\nHost: test\r\n"
    for (name, value) in headers { text += "\(name): \(value)\r\n" }
    if let body { text += "Content-Length: \(body.count)\r\n" }
    try write(Array((text + "\r\n").utf8) + (body ?? []))
  }

  // MARK: Reading

  /// Nil at the end of the connection.
  func readSome() throws -> [UInt8]? { try connection.readSome() }
  func readLine() throws -> String? { try connection.readLine() }
  /// Empty at the end of a chunked body, nil when the connection ends first.
  func readChunk() throws -> [UInt8]? { try connection.readChunk() }

  /// True if the broker has closed the connection.
  func ends() -> Bool { connection.ends() }

  func readHead() throws -> (status: Int, headers: [String: String]) {
    let head = try connection.readHead()
    return (head.status, head.headers)
  }

  func readAnswer(bodyless: Bool = false) throws -> Answer {
    let response = try connection.readResponse(ofHead: bodyless)
    return Answer(status: response.status, headers: response.headers, body: response.bytes)
  }

  func request(
    _ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8]? = nil
  ) throws -> Answer {
    try writeRequest(method, path, headers: headers, body: body)
    return try readAnswer(bodyless: method == "HEAD")
  }
}

/// An answer, with the properties that tests need.
struct Answer: Sendable, CustomStringConvertible {
  let status: Int
  let headers: [String: String]
  let body: [UInt8]

  var text: String { String(decoding: body, as: UTF8.self) }
  var description: String { "\(status) \(text)" }
  var object: [String: Any] {
    (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
  }

  subscript(_ name: String) -> String? {
    switch object[name] {
    case let text as String: text
    case let number as NSNumber: number.stringValue
    default: nil
    }
  }

  var isDuplicate: Bool { object["duplicate"] as? Bool == true }
  var notifications: [[String: Any]] { object["notifications"] as? [[String: Any]] ?? [] }
}
