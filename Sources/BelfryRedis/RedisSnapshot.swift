import BelfryLoop
import BelfryTransport
import Glibc

/// A snapshot of everything that a Redis holds at one moment, over a connection of its own. Redis sends the snapshot as to
/// a new replica (`SYNC`): it forks and goes on serving. Reading the snapshot blocks the thread.
package final class RedisSnapshot {
  private let transport: any ByteTransport
  private let place: String
  private let silenceMax: Duration
  private var received: [UInt8] = []
  private var position = 0
  private var end = End.reached

  /// How the snapshot ends: after a number of bytes or, if Redis does not know the size, with a mark.
  private enum End {
    case bytesLeft(Int)
    case mark([UInt8])
    case reached
  }

  private static let pieceBytes = 256 << 10
  private static let markBytes = 40
  private static let lineBytesMax = 4 << 10

  /// Connects and asks for the snapshot. The first piece may take long, because Redis waits until another child process of
  /// its own has ended.
  /// - Parameter silenceMax: how long Redis may send nothing. While Redis prepares, it sends a line end now and then.
  package init(of endpoint: RedisEndpoint, silenceMax: Duration = .seconds(60)) throws(RedisError) {
    place = endpoint.description
    self.silenceMax = silenceMax
    transport = try Self.connect(to: endpoint, within: min(silenceMax, .seconds(5)))
    try ask(endpoint)
  }

  deinit {
    transport.close()
  }

  /// The next piece, or nil when the snapshot is complete.
  /// - Throws: if the snapshot breaks off.
  package func next() throws(RedisError) -> [UInt8]? {
    switch end {
    case .reached:
      return nil
    case .bytesLeft(0):
      end = .reached
      return nil
    case .bytesLeft(let count):
      if position == received.count { try receive() }
      let piece = Array(received[position...].prefix(count))
      position += piece.count
      end = .bytesLeft(count - piece.count)
      return piece
    case .mark(let mark):
      return try piece(before: mark)
    }
  }

  /// The last bytes are kept back as long as they may be the mark.
  private func piece(before mark: [UInt8]) throws(RedisError) -> [UInt8]? {
    while received.count - position <= mark.count {
      if received[position...].elementsEqual(mark) {
        end = .reached
        return nil
      }
      try receive()
    }
    let piece = Array(received[position...].dropLast(mark.count))
    position += piece.count
    return piece
  }
}

// MARK: Asking

extension RedisSnapshot {
  private func ask(_ endpoint: RedisEndpoint) throws(RedisError) {
    if let password = endpoint.password {
      var authenticate = RedisCommand("AUTH")
      if let username = endpoint.username { authenticate.append(username) }
      authenticate.append(password)
      try expectOK(authenticate)
    }
    try refuseNodeOfCluster()
    // Redis is to send the snapshot alone, without later writes, and without a file on its own disk (`eof`).
    try expectOK(RedisCommand("REPLCONF", "rdb-only", "1"))
    try expectOK(RedisCommand("REPLCONF", "capa", "eof"))
    try write(RedisCommand("SYNC"))
    var line = ""
    repeat { line = try readLine() } while line.isEmpty
    if line.hasPrefix("$EOF:"), line.utf8.count == 5 + Self.markBytes {
      end = .mark(Array(line.utf8.dropFirst(5)))
    } else if line.hasPrefix("$"), let count = Int(line.dropFirst()), count >= 0 {
      end = .bytesLeft(count)
    } else {
      throw refusal(line, of: "SYNC")
    }
  }

  /// A node of a cluster would give its own part of the keys for all of them.
  private func refuseNodeOfCluster() throws(RedisError) {
    try write(RedisCommand("CLUSTER", "MYID"))
    let line = try readLine()
    // Any other Redis says that it is none.
    if line.hasPrefix("-") { return }
    guard line.hasPrefix("$") else {
      throw RedisError(.malformedReply, cause: "it is no Redis: it answered \(line.prefix(40))", place: place)
    }
    throw RedisError(
      .unsuitable, cause: "it is a node of a Redis Cluster, which has only a part of the keys", place: place
    )
  }

  private func expectOK(_ command: RedisCommand) throws(RedisError) {
    try write(command)
    let line = try readLine()
    guard line == "+OK" else { throw refusal(line, of: command.name) }
  }

  private func refusal(_ line: String, of command: String) -> RedisError {
    line.hasPrefix("-")
      ? .replied(String(line.dropFirst()), to: "\(command) at \(place)")
      : RedisError(.unexpectedReply, cause: "this Redis does not know \(command)", place: place)
  }

  private func write(_ command: RedisCommand) throws(RedisError) {
    let buffer = OutputBuffer()
    buffer.append(command)
    while !buffer.isEmpty {
      guard buffer.send(by: transport) else {
        throw RedisError(.connectionLost, cause: transport.lossCause, place: place)
      }
      if !buffer.isEmpty { try wait(for: POLLOUT) }
    }
  }

  private func readLine() throws(RedisError) -> String {
    while true {
      if let lineEnd = received[position...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = received[position..<lineEnd].filter { $0 != UInt8(ascii: "\r") }
        position = lineEnd + 1
        return String(decoding: line, as: UTF8.self)
      }
      guard received.count - position < Self.lineBytesMax else {
        throw RedisError(.malformedReply, cause: "a line of its reply has no end", place: place)
      }
      try receive()
    }
  }
}

// MARK: The socket

extension RedisSnapshot {
  private static func connect(
    to endpoint: RedisEndpoint, within timeout: Duration
  ) throws(RedisError) -> any ByteTransport {
    let context = try endpoint.tls?.makeContext()
    var failure = RedisError(.unavailable, cause: "the host has no address", place: endpoint.description)
    for address in try addresses(of: endpoint) {
      do throws(RedisError) {
        var (target, tls): (RedisEndpoint, (TLSContext, String)?) = (endpoint, nil)
        target.address = address
        if case .tcp(let host, _) = endpoint.address, let context { tls = (context, host) }
        let transport = try beginTransport(to: target, by: tls)
        if let error = finishConnecting(transport, within: timeout) {
          transport.close()
          throw RedisError(.unavailable, cause: error, place: endpoint.description)
        }
        return transport
      } catch {
        failure = error
      }
    }
    throw failure
  }

  private static func addresses(of endpoint: RedisEndpoint) throws(RedisError) -> [RedisEndpoint.Address] {
    guard case .tcp(let host, let port) = endpoint.address else { return [endpoint.address] }
    if let known = HostResolver.knownAddress(of: host) { return [.tcp(host: known, port: port)] }
    return try HostResolver.lookUp(host).mapError(RedisError.init).get().map { .tcp(host: $0, port: port) }
  }

  /// - Returns: why it is not connected, in words; nil if it is connected.
  private static func finishConnecting(_ transport: any ByteTransport, within timeout: Duration) -> String? {
    let descriptor = transport.descriptor
    guard isReady(descriptor, for: POLLOUT, within: timeout) else { return "no answer" }
    var error: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 else {
      return describe(errno: errno)
    }
    guard error == 0 else { return describe(errno: error) }
    guard let tls = transport as? TLSTransport else { return nil }
    while true {
      let events: Int32
      switch tls.handshake() {
      case .done: return nil
      case .wantsRead: events = POLLIN
      case .wantsWrite: events = POLLOUT
      case .failed(let cause): return explainTLSFailure(cause)
      }
      guard isReady(descriptor, for: events, within: timeout) else { return "no answer to TLS" }
    }
  }

  /// Appends what has arrived to the bytes that no piece has taken yet.
  private func receive() throws(RedisError) {
    received.removeFirst(position)
    position = 0
    var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
    while true {
      // SAFETY: the transport has written what it writes when it returns.
      switch unsafe piece.withUnsafeMutableBytes({ unsafe transport.read(into: $0) }) {
      case .bytes(let count):
        received += piece[..<count]
        return
      case .wait: try wait(for: POLLIN)
      case .end: throw RedisError(.connectionLost, cause: "Redis closed the connection", place: place)
      case .lost: throw RedisError(.connectionLost, cause: transport.lossCause, place: place)
      }
    }
  }

  private func wait(for events: Int32) throws(RedisError) {
    guard Self.isReady(transport.descriptor, for: events, within: silenceMax) else {
      throw RedisError(.timedOut, cause: "nothing arrived for \(silenceMax)", place: place)
    }
  }

  private static func isReady(_ descriptor: Int32, for events: Int32, within timeout: Duration) -> Bool {
    var one = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    let deadline = ContinuousClock.now + timeout
    while true {
      let (seconds, attoseconds) = ContinuousClock.now.duration(to: deadline).components
      let milliseconds = max(seconds * 1_000 + attoseconds / 1_000_000_000_000_000, 0)
      let count = unsafe poll(&one, 1, Int32(clamping: milliseconds))
      if count > 0 { return true }
      if count == 0 || errno != EINTR { return false }
    }
  }
}
