import Foundation
import Glibc

/// One blocking HTTP/1.1 connection, as plain as a test needs: what goes over the wire is what the test
/// wrote, also when it is wrong on purpose.
final class Wire: @unchecked Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let descriptor: Int32
  private var buffered: [UInt8] = []

  /// - Parameter receiveBytes: room in the kernel for what the test does not read. Given before the
  ///   connection is made: a window that shrinks afterwards makes it crawl.
  init(port: UInt16, timeoutSeconds: Int = 60, receiveBytes: Int32? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if var size = receiveBytes {
      unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    address.sin_port = port.bigEndian
    let status = unsafe withUnsafeBytes(of: &address) { bytes in
      unsafe connect(
        descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
    }
    guard status == 0 else {
      close(descriptor)
      throw Failure(description: "no connection to port \(port): errno \(errno)")
    }
    setTimeout(seconds: timeoutSeconds)
  }

  deinit { close(descriptor) }

  func setTimeout(seconds: Int = 0, microseconds: Int = 0) {
    var timeout = timeval(tv_sec: seconds, tv_usec: microseconds)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Ends the connection both ways at once, from whichever thread.
  func cut() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  // MARK: Writing

  func write(_ text: String) throws { try write(Array(text.utf8)) }

  func write(_ bytes: [UInt8]) throws {
    var offset = 0
    while offset < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe send(
          descriptor, $0.baseAddress?.advanced(by: offset), bytes.count - offset, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Failure(description: "cannot write: errno \(errno)") }
      offset += count
    }
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
  func readSome() throws -> [UInt8]? {
    if !buffered.isEmpty {
      defer { buffered = [] }
      return buffered
    }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe chunk.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
    if count == 0 { return nil }
    guard count > 0 else { throw Failure(description: "nothing to read: errno \(errno)") }
    return Array(chunk[..<count])
  }

  func readLine() throws -> String? {
    while true {
      if let end = buffered.firstIndex(of: 10) {
        let line = buffered[..<end]
        buffered.removeSubrange(...end)
        return String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
      }
      let have = buffered
      buffered = []
      guard let more = try readSome() else { return nil }
      buffered = have + more
    }
  }

  private func readExactly(_ count: Int) throws -> [UInt8] {
    while buffered.count < count {
      let have = buffered
      buffered = []
      guard let more = try readSome() else { throw Failure(description: "the answer ends early") }
      buffered = have + more
    }
    defer { buffered.removeFirst(count) }
    return Array(buffered[..<count])
  }

  func readHead() throws -> (status: Int, headers: [String: String]) {
    guard let line = try readLine() else { throw Failure(description: "no answer") }
    let words = line.split(separator: " ")
    guard words.count >= 2, let status = Int(words[1]) else {
      throw Failure(description: "no status: \(line)")
    }
    var headers: [String: String] = [:]
    while let header = try readLine(), !header.isEmpty {
      let pair = header.split(separator: ":", maxSplits: 1)
      headers[pair[0].lowercased()] = pair.count > 1 ? pair[1].trimmingCharacters(in: .whitespaces) : ""
    }
    return (status, headers)
  }

  func readAnswer(bodyless: Bool = false) throws -> Answer {
    let (status, headers) = try readHead()
    var body: [UInt8] = []
    if bodyless || status == 204 || status == 304 {
    } else if headers["transfer-encoding"]?.lowercased() == "chunked" {
      while let chunk = try readChunk(), !chunk.isEmpty { body += chunk }
    } else if let length = headers["content-length"].flatMap(Int.init) {
      body = try readExactly(length)
    }
    return Answer(status: status, headers: headers, body: body)
  }

  /// One chunk of a chunked body; empty at its end, nil when the connection ends first.
  func readChunk() throws -> [UInt8]? {
    guard let line = try readLine() else { return nil }
    guard let size = Int(line.prefix { $0 != ";" }, radix: 16) else {
      throw Failure(description: "no chunk: \(line)")
    }
    let chunk = size == 0 ? [] : try readExactly(size)
    _ = try readLine()
    return chunk
  }

  func request(
    _ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8]? = nil
  ) throws -> Answer {
    try writeRequest(method, path, headers: headers, body: body)
    return try readAnswer(bodyless: method == "HEAD")
  }
}

/// An answer, and what tests ask of it.
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
