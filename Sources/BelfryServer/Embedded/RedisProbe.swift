import BelfryRedis
import BelfrySystem
import Glibc

/// Asks a redis-server on a unix socket for INFO, over a new connection, and blocks at most until a deadline.
/// `BelfryRedis` needs an event loop; this works when none runs.
enum RedisProbe {
  enum Answer: Hashable {
    /// Nobody listens, or no answer came in time.
    case none
    case loading
    case ready(processID: pid_t, version: String)
  }

  /// INFO is a few kilobytes long. Redis answers it even while it loads its data.
  private static let replyBytesMax = 64 << 10

  static func ask(_ path: String, until deadline: ContinuousClock.Instant) -> Answer {
    let connection = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard connection >= 0 else { return .none }
    defer { close(connection) }
    let question = Array("INFO\r\n".utf8)
    guard connect(connection, to: path),
      unsafe send(connection, question, question.count, Int32(MSG_NOSIGNAL)) == question.count
    else { return .none }
    return parse(receive(connection, until: deadline))
  }

  private static func connect(_ connection: Int32, to path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    // SAFETY: the copy is shorter than the field, whose last byte stays zero.
    let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
      guard bytes.count < field.count else { return false }
      unsafe field.copyBytes(from: bytes)
      return true
    }
    guard fits else { return false }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(connection, $0, size) == 0
      }
    }
  }

  /// The reply so far, once it is complete or no more bytes come.
  private static func receive(_ connection: Int32, until deadline: ContinuousClock.Instant) -> String {
    var reply: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 8 << 10)
    while !isComplete(reply), reply.count < replyBytesMax {
      guard !Poll.readable([connection], until: deadline).isEmpty else { break }
      let count = unsafe recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      reply += buffer[..<count]
    }
    return String(decoding: reply, as: UTF8.self)
  }

  /// True if a reply of RESP is complete: `$<length>`, the text and CR LF, or otherwise one line.
  static func isComplete(_ reply: [UInt8]) -> Bool {
    guard let lineEnd = reply.firstIndex(of: UInt8(ascii: "\n")) else { return false }
    let header = String(decoding: reply[..<lineEnd], as: UTF8.self)
    guard header.hasPrefix("$"), let length = Int(header.dropFirst().prefix { $0.isNumber }) else {
      return true
    }
    return reply.count >= lineEnd + 1 + length + 2
  }

  static func parse(_ reply: String) -> Answer {
    let info = RedisInfo(reply)
    guard let version = info["redis_version"], let processID = info["process_id"].flatMap({ pid_t($0) })
    else { return .none }
    if info["loading"] != "0" || info["async_loading"] == "1" { return .loading }
    return .ready(processID: processID, version: String(version))
  }
}
