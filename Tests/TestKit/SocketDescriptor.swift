import Glibc

/// A blocking TCP socket of the scripted server.
struct SocketDescriptor: Sendable {
  struct Failure: Error { var call: String; var code: Int32 }

  let number: Int32

  static func listening() throws(Failure) -> SocketDescriptor {
    let socket = SocketDescriptor(number: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    guard socket.number >= 0 else { throw Failure(call: "socket", code: errno) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    // SAFETY: bind reads the address during the call only.
    let bound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(socket.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard bound == 0 else { throw Failure(call: "bind", code: errno) }
    guard listen(socket.number, 64) == 0 else { throw Failure(call: "listen", code: errno) }
    return socket
  }

  func port() throws(Failure) -> UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // SAFETY: getsockname writes at most `length` bytes, the size of the address.
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(number, $0, &length)
      }
    }
    guard result == 0 else { throw Failure(call: "getsockname", code: errno) }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Nil once the listener is shut down.
  func accept() -> SocketDescriptor? {
    let accepted = Glibc.accept(number, nil, nil)
    if accepted < 0 { _ = Glibc.close(number) }
    return accepted < 0 ? nil : SocketDescriptor(number: accepted)
  }

  /// Wakes the thread that accepts, which then closes the listener.
  func shutDown() { _ = shutdown(number, Int32(SHUT_RDWR)) }

  func close() { _ = Glibc.close(number) }

  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    // SAFETY: setsockopt reads the option during the call only.
    _ = unsafe setsockopt(
      number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
  }

  /// False when the other side is gone.
  func write(_ text: String) -> Bool {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      // SAFETY: send reads the bytes during the call only.
      let sent = unsafe rest.withUnsafeBytes {
        unsafe send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }

  /// Empty when the other side has hung up.
  private func read() -> [UInt8] {
    // SAFETY: recv writes at most as many bytes as there is room for, and says how many it wrote.
    unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
      unsafe count = max(0, recv(number, buffer.baseAddress, buffer.count, 0))
    }
  }

  func waitForHangUp() {
    while !read().isEmpty {}
  }

  func readRequest() -> ScriptedRequest? {
    var bytes: [UInt8] = []
    while true {
      if let request = ScriptedRequest(bytes) { return request }
      let more = read()
      guard !more.isEmpty else { return nil }
      bytes += more
    }
  }
}

extension ScriptedRequest {
  /// Nil while the request is incomplete.
  fileprivate init?(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
    let lines = text[..<end.lowerBound].split(separator: "\r\n")
    let words = lines[0].split(separator: " ")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
    }
    let body = String(text[end.upperBound...])
    guard words.count == 3, body.utf8.count >= headers["content-length"].flatMap({ Int($0) }) ?? 0
    else { return nil }
    self.init(method: String(words[0]), target: String(words[1]), headers: headers, body: body)
  }
}
