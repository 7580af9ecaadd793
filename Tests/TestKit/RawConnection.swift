import BelfryBytes
package import BelfryTransport
import Glibc

/// One HTTP/1.1 connection, byte by byte, so that a test can also say what no client library would. It blocks, with a
/// timeout far beyond what a working server needs.
package final class RawConnection: @unchecked Sendable {
  package struct Response: Sendable {
    package let status: Int
    /// The headers by lowercased name.
    package let headers: [String: String]
    package let bytes: [UInt8]

    package var body: String { String(decoding: bytes, as: UTF8.self) }
  }

  package private(set) var descriptor: Int32
  private var transport: TLSTransport?
  private var timeoutMilliseconds: Int32 = 0
  /// The server has ended it, or reset it.
  private var hasEnded = false
  private var received: [UInt8] = []

  /// - Parameters:
  ///   - timeoutSeconds: longer than the ten seconds in which a request has to arrive: noise may be the beginning of one.
  ///   - receiveBytes: room in the kernel for what the test does not read. Given before the connection is made: a window
  ///     that shrinks afterwards makes it crawl.
  ///   - tls: by which it speaks to `localhost`; nil: by none.
  package init(
    port: UInt16, timeoutSeconds: Int = 60, receiveBytes: Int32? = nil, tls: TLSContext? = nil
  ) throws(FixtureError) {
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
      let reason = errno
      close()
      throw FixtureError("no connection to port \(port): errno \(reason)")
    }
    setTimeout(seconds: timeoutSeconds)
    if let tls { try shakeHands(by: tls) }
  }

  deinit { close() }

  private func shakeHands(by context: TLSContext) throws(FixtureError) {
    guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0,
      let transport = try? TLSTransport(descriptor, by: context, expecting: "localhost")
    else { throw FixtureError("no TLS") }
    self.transport = transport
    while true {
      switch transport.handshake() {
      case .done: return
      case .wantsRead: guard wait(for: POLLIN) else { throw FixtureError("no answer to TLS") }
      case .wantsWrite: guard wait(for: POLLOUT) else { throw FixtureError("no room for TLS") }
      case .failed(let cause): throw FixtureError("no TLS: \(cause)")
      }
    }
  }

  private func wait(for events: Int32) -> Bool {
    var one = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    return unsafe poll(&one, 1, timeoutMilliseconds) > 0
  }

  package func setTimeout(seconds: Int = 0, microseconds: Int = 0) {
    timeoutMilliseconds = Int32(clamping: seconds * 1_000 + microseconds / 1_000)
    var timeout = timeval(tv_sec: seconds, tv_usec: microseconds)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
  }

  package func close() {
    guard descriptor >= 0 else { return }
    if let transport { transport.close() } else { Glibc.close(descriptor) }
    descriptor = -1
  }

  /// Ends the connection both ways at once, from any thread.
  package func cut() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Ends the connection with a reset, as a killed client's kernel may.
  package func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  // MARK: Writing

  /// - Returns: whether all of it was taken. The server may have said all it has to say and hung up; its answer is still to
  ///   be read then.
  @discardableResult
  package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  package func send(_ bytes: [UInt8]) -> Bool {
    if let transport { return send(bytes, by: transport) }
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

  private func send(_ bytes: [UInt8], by transport: TLSTransport) -> Bool {
    var sent = 0
    while sent < bytes.count {
      switch unsafe bytes[sent...].withUnsafeBytes({ unsafe transport.write($0) }) {
      case .bytes(let count): sent += count
      case .wait: guard wait(for: POLLOUT) else { return false }
      case .end, .lost: return false
      }
    }
    return true
  }

  /// - Returns: false if the server did not take all of it in time.
  package func sendWithin(milliseconds: Int, _ bytes: [UInt8]) -> Bool {
    var timeout = timeval(tv_sec: 0, tv_usec: milliseconds * 1_000)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    return send(bytes)
  }

  // MARK: Reading

  /// - Returns: false at the connection's end or a reset.
  private func receiveMore() throws(FixtureError) -> Bool {
    var piece = [UInt8](repeating: 0, count: 65_536)
    let count =
      if let transport { receive(into: &piece, by: transport) } else {
        unsafe recv(descriptor, &piece, piece.count, 0)
      }
    if count < 0, errno == EAGAIN { throw FixtureError("nothing came, and the connection is still open") }
    hasEnded = count <= 0
    guard count > 0 else { return false }
    received += piece[..<count]
    return true
  }

  /// As `recv` says it.
  private func receive(into piece: inout [UInt8], by transport: TLSTransport) -> Int {
    while true {
      switch unsafe piece.withUnsafeMutableBytes({ unsafe transport.read(into: $0) }) {
      case .bytes(let count): return count
      case .end: return 0
      case .lost:
        errno = ECONNRESET
        return -1
      case .wait:
        if wait(for: POLLIN) { continue }
        errno = EAGAIN
        return -1
      }
    }
  }

  private func take(_ count: Int) -> [UInt8] {
    defer { received.removeFirst(count) }
    return Array(received[..<count])
  }

  /// The bytes that have arrived, waiting for some; nil at the connection's end.
  package func readSome() throws(FixtureError) -> [UInt8]? {
    if received.isEmpty, try !receiveMore() { return nil }
    return take(received.count)
  }

  /// Reads on until the text has arrived, and takes everything up to its end.
  package func read(through text: String) throws(FixtureError) -> String {
    let wanted = Array(text.utf8)
    while true {
      if let range = received.firstRange(of: wanted) {
        return String(decoding: take(range.upperBound), as: UTF8.self)
      }
      guard try receiveMore() else {
        throw FixtureError("the connection ended before \(text.debugDescription) arrived")
      }
    }
  }

  package func read(count: Int) throws(FixtureError) -> [UInt8] {
    while received.count < count {
      guard try receiveMore() else { throw FixtureError("the connection ended early") }
    }
    return take(count)
  }

  /// Without its end; nil at the connection's end.
  package func readLine() throws(FixtureError) -> String? {
    while true {
      if let end = received[...].firstPosition(of: UInt8(ascii: "\n")) {
        let line = take(end + 1).dropLast()
        return String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
      }
      guard try receiveMore() else { return nil }
    }
  }

  /// Everything that comes until the server closes the connection. If it does not, the text says so, which no
  /// test expects.
  package func readToEnd() -> String {
    do {
      while try receiveMore() {}
    } catch {
      received += Array("(\(error))".utf8)
    }
    return String(decoding: take(received.count), as: UTF8.self)
  }

  /// Whether the server has closed the connection, after at most what is still to come.
  package func ends() -> Bool {
    while (try? receiveMore()) == true {}
    return hasEnded
  }

  // MARK: Answers

  package func readHead() throws(FixtureError) -> Response {
    guard let line = try readLine() else { throw FixtureError("no answer") }
    let words = line.split(separator: " ")
    guard words.count >= 2, let status = Int(words[1]) else { throw FixtureError("no status: \(line)") }
    var headers: [String: String] = [:]
    while let header = try readLine(), !header.isEmpty {
      let parts = header.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
    }
    return Response(status: status, headers: headers, bytes: [])
  }

  /// - Parameter ofHead: true for the answer to a request with HEAD, which has no body even if its headers
  ///   name one.
  package func readResponse(ofHead: Bool = false) throws(FixtureError) -> Response {
    let head = try readHead()
    var bytes: [UInt8] = []
    if ofHead || head.status == 204 || head.status == 304 {
    } else if head.headers["transfer-encoding"]?.lowercased() == "chunked" {
      while let chunk = try readChunk(), !chunk.isEmpty { bytes += chunk }
    } else if let length = head.headers["content-length"].flatMap({ Int($0) }) {
      bytes = try read(count: length)
    }
    return Response(status: head.status, headers: head.headers, bytes: bytes)
  }

  /// One chunk of a chunked body; empty for the last, nil when the connection ends first.
  package func readChunk() throws(FixtureError) -> [UInt8]? {
    guard let line = try readLine() else { return nil }
    guard let size = Int(line.prefix { $0 != ";" }, radix: 16) else {
      throw FixtureError("no chunk: \(line)")
    }
    return [UInt8](try read(count: size + 2).dropLast(2))
  }

  package func get(_ target: String) throws(FixtureError) -> Response {
    send("GET \(target) HTTP/1.1\r\nHost: test\r\n\r\n")
    return try readResponse()
  }
}
