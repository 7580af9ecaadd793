import Foundation
import Glibc
import SimulatedRedis
import TestKit

/// A way to a redis-server on which a simulated Redis answers each command as well, and must give the same bytes.
///
/// Commands of all connections pass one at a time, in the order in which they come. Between two of them the server's clock stands
/// still, so both have the same time.
///
/// SAFETY: the lock guards the simulated side, and each connection has a thread of its own.
final class ComparingLink: @unchecked Sendable {
  let socketPath: String
  private let listener: Int32
  private let lock = NSLock()
  private let comparison: LinkComparison

  init(to server: RedisServer, _ clock: ShiftedClock) throws {
    socketPath = server.folder + "/compared.sock"
    listener = try openListener(at: socketPath)
    var options = SimulatedRedis.Options()
    let facts = try server.command("INFO", "server").split(whereSeparator: \.isNewline)
    options.runID = String(facts.first { $0.hasPrefix("run_id:") }?.dropFirst(7) ?? "")
    comparison = LinkComparison(clock, options)
    let (listener, redisPath) = (listener, server.socketPath)
    Thread.detachNewThread { [weak self] in
      var count = 0
      while true {
        let accepted = accept(listener, nil, nil)
        guard accepted >= 0, self != nil else { break }
        count += 1
        let number = count
        Thread.detachNewThread { [weak self] in
          guard let redis = MessageStream(connectedTo: redisPath) else { return }
          self?.serve(MessageStream(accepted), redis, number)
        }
      }
      close(listener)
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  /// Both forget all data, and keep the functions.
  func clear(_ server: RedisServer) throws {
    try lock.withLock {
      try server.command("FLUSHALL")
      comparison.clear()
    }
  }

  /// The first command that was answered differently.
  var difference: String? { lock.withLock { comparison.difference } }
  /// How many messages were compared.
  var messageCount: Int { lock.withLock { comparison.messageCount } }
  /// How many commands were compared, by their names.
  var counts: [String: Int] { lock.withLock { comparison.counts } }

  private func serve(_ broker: MessageStream, _ redis: MessageStream, _ number: Int) {
    var client = SimulatedClient(id: number)
    while let bytes = broker.readMessage() {
      var reader = ReplyReader()
      reader.append(bytes)
      let command = reader.nextCommand() ?? []
      if command.first == Bytes("SSUBSCRIBE".utf8) {
        lock.withLock { comparison.listen(command, &client) }
        _ = redis.writeMessage(bytes)
        return passMessages(broker, redis, client)
      }
      let reply = lock.withLock { comparison.forwardCommand(command, bytes, &client, redis) }
      guard let reply, broker.writeMessage(reply) else { return }
    }
  }

  /// Passes commands and messages of a subscriber as they come. The messages are compared later.
  private func passMessages(_ broker: MessageStream, _ redis: MessageStream, _ client: SimulatedClient) {
    let messages = Carrier(from: redis, to: broker)
    Thread.detachNewThread { [self] in
      messages.carry { message in lock.withLock { comparison.noteMessage(message) } }
    }
    var client = client
    Carrier(from: broker, to: redis).carry { bytes in
      var reader = ReplyReader()
      reader.append(bytes)
      guard let command = reader.nextCommand() else { return }
      lock.withLock { comparison.listen(command, &client) }
    }
    lock.withLock { comparison.close(client) }
  }
}

/// Carries messages one way until either side ends.
///
/// SAFETY: one thread uses one carrier, and two threads may use the two directions of a socket.
private final class Carrier: @unchecked Sendable {
  private let source: MessageStream
  private let target: MessageStream

  init(from source: MessageStream, to target: MessageStream) { (self.source, self.target) = (source, target) }

  func carry(_ note: ([UInt8]) -> Void) {
    while let message = source.readMessage() {
      note(message)
      if !target.writeMessage(message) { break }
    }
    source.shutDown()
    target.shutDown()
  }
}

/// The simulated side of a link.
private final class LinkComparison {
  private let clock: ShiftedClock
  private let redis: SimulatedRedis
  private var firstDifference: String?
  private(set) var counts: [String: Int] = [:]
  /// The messages of each channel, as listeners of each of the two got them.
  private var messages: [Bytes: (real: [Bytes], simulated: [Bytes])] = [:]
  private var now: Int64
  /// The last few commands, for the message.
  private var latest: [String] = []

  init(_ clock: ShiftedClock, _ options: SimulatedRedis.Options) {
    self.clock = clock
    redis = SimulatedRedis(options)
    now = 1_795_910_400_123_456
    try? clock.standStill(atMicroseconds: now)
  }

  func close(_ client: SimulatedClient) { redis.close(client) }

  /// Has the simulated one do as a subscriber says.
  func listen(_ command: [Bytes], _ client: inout SimulatedClient) {
    _ = redis.execute(command, on: &client, at: now)
  }

  func noteMessage(_ bytes: [UInt8]) {
    var reader = ReplyReader()
    reader.append(bytes)
    if let message = reader.readReply() { noteMessage(message, isReal: true) }
  }

  private func noteMessage(_ message: SimulatedReply, isReal: Bool) {
    guard case .array(let parts) = message, parts.count == 3, parts[0] == .bulk(Bytes("smessage".utf8)),
      case .bulk(let channel) = parts[1], case .bulk(let text) = parts[2]
    else { return }
    if isReal {
      messages[channel, default: ([], [])].real.append(text)
    } else {
      messages[channel, default: ([], [])].simulated.append(text)
    }
  }

  /// The first command that was answered differently, or a message that only the real one published. Messages may be on their
  /// way still, and a listener of the simulated one comes a moment earlier.
  var difference: String? {
    if let firstDifference { return firstDifference }
    for (channel, both) in messages {
      var rest = both.simulated[...]
      for text in both.real {
        guard let place = rest.firstIndex(of: text) else {
          return "nothing published this message in \(channel.readable): \(text.readable)"
        }
        rest = rest[(place + 1)...]
      }
    }
    return nil
  }

  /// How many messages were compared.
  var messageCount: Int { messages.values.reduce(0) { $0 + $1.real.count } }

  func clear() {
    var client = SimulatedClient(id: 0)
    _ = redis.execute([Bytes("FLUSHALL".utf8)], on: &client, at: now)
  }

  /// - Returns: the real reply.
  func forwardCommand(
    _ command: [Bytes], _ bytes: [UInt8], _ client: inout SimulatedClient, _ server: MessageStream
  ) -> [UInt8]? {
    now += 137
    try? clock.standStill(atMicroseconds: now)
    guard server.writeMessage(bytes), let real = server.readMessage() else { return nil }
    var reader = ReplyReader()
    reader.append(real)
    let expected = reader.readReply() ?? .null
    let outcome = redis.execute(command, on: &client, at: now)
    for push in outcome.pushes { noteMessage(push.message, isReal: false) }
    let simulated = outcome.replies.last ?? .null
    note(command, expected, simulated)
    return real
  }

  private func note(_ command: [Bytes], _ expected: SimulatedReply, _ simulated: SimulatedReply) {
    let name = command.prefix(command.first == Bytes("FCALL".utf8) ? 2 : 1).map(\.readable).joined(
      separator: " ")
    counts[name, default: 0] += 1
    latest.append(command.map(\.readable).joined(separator: " ") + "\n  " + expected.text)
    if latest.count > 8 { latest.removeFirst() }
    // A listener of the simulated one comes a moment earlier.
    if name == "SPUBLISH", case .integer = expected, case .integer = simulated { return }
    // The number of logs that it has read depends on the order of a table.
    if name == "FCALL_RO", expected.withoutLast == simulated.withoutLast,
      command[1].starts(with: "belfry_locate".utf8)
    {
      return
    }
    guard firstDifference == nil, !redis.areEqual(expected, simulated, to: command) else { return }
    firstDifference =
      latest.joined(separator: "\n") + "\nbut the simulated Redis answers\n  " + simulated.text
  }
}

extension SimulatedReply {
  fileprivate var withoutLast: [SimulatedReply] {
    if case .array(let elements) = self { elements.dropLast() } else { [self] }
  }
}
