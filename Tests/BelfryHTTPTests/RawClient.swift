import Glibc
import Testing

/// A client that speaks bytes, so that it can speak wrongly. It blocks, with a timeout far beyond what a
/// working server needs.
final class RawClient {
  struct Response {
    let status: Int
    let headers: [String: String]
    let body: String
  }

  private(set) var descriptor: Int32
  private var received: [UInt8] = []

  /// - Parameter receiveBufferBytes: small for a client that makes the server wait.
  init(port: Int, receiveBufferBytes: Int32? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    // Longer than the ten seconds in which a request has to arrive: noise may be the beginning of one.
    var timeout = timeval(tv_sec: 20, tv_usec: 0)
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    if var bytes = receiveBufferBytes {
      unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = unsafe withUnsafePointer(to: &address) {
      unsafe connect(
        descriptor, UnsafeRawPointer($0).assumingMemoryBound(to: sockaddr.self),
        socklen_t(MemoryLayout<sockaddr_in>.size))
    }
    guard result == 0 else { throw Refused() }
  }

  struct Refused: Error {}

  deinit {
    close()
  }

  func close() {
    guard descriptor >= 0 else { return }
    Glibc.close(descriptor)
    descriptor = -1
  }

  /// Ends the connection with a reset, as a killed client's kernel may.
  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  /// - Returns: whether all of it was taken; the server may have closed the connection.
  @discardableResult
  func send(_ text: String) -> Bool {
    send(Array(text.utf8))
  }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.send(
          descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// - Returns: false at the connection's end or a reset.
  private func receiveMore() -> Bool {
    var piece = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe recv(descriptor, &piece, piece.count, 0)
    guard count > 0 else {
      if count < 0, errno == EAGAIN { Issue.record("nothing came, and the connection is still open") }
      return false
    }
    received += piece.prefix(count)
    return true
  }

  /// Reads on until the text has arrived, and takes everything up to its end.
  func read(through text: String) throws -> String {
    let wanted = Array(text.utf8)
    while true {
      if let range = received.firstRange(of: wanted) {
        return take(range.upperBound)
      }
      try #require(receiveMore(), "the connection ended before \(text.debugDescription) arrived")
    }
  }

  func read(count: Int) throws -> String {
    while received.count < count { try #require(receiveMore()) }
    return take(count)
  }

  /// Whatever comes until the server closes the connection.
  func readToEnd() -> String {
    while receiveMore() {}
    return take(received.count)
  }

  private func take(_ count: Int) -> String {
    defer { received.removeFirst(count) }
    return String(decoding: received.prefix(count), as: UTF8.self)
  }

  func readHead() throws -> Response {
    let lines = try read(through: "\r\n\r\n").split(separator: "\r\n")
    let status = try #require(lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts[1].drop { $0 == " " }.description
    }
    return Response(status: status, headers: headers, body: "")
  }

  func readResponse(ofHead: Bool = false) throws -> Response {
    let head = try readHead()
    var body = ""
    if ofHead || head.status == 204 {
    } else if head.headers["transfer-encoding"] == "chunked" {
      while let chunk = try readChunk() { body += chunk }
    } else {
      body = try read(count: try #require(head.headers["content-length"].flatMap { Int($0) }))
    }
    return Response(status: head.status, headers: head.headers, body: body)
  }

  /// - Returns: nil for the last chunk.
  func readChunk() throws -> String? {
    let count = try #require(Int(try read(through: "\r\n").dropLast(), radix: 16))
    let chunk = try read(count: count + 2).dropLast()
    return count > 0 ? String(chunk) : nil
  }

  func get(_ target: String) throws -> Response {
    send("GET \(target) HTTP/1.1\r\nHost: test\r\n\r\n")
    return try readResponse()
  }
}
