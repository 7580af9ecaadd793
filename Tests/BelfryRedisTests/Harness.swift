import BelfryLoop
import TestKit

@testable import BelfryRedis

/// An actor on a loop that owns a connection and a subscriber, as the layers above do.
actor Client {
  nonisolated let loop: EventLoop
  let connection: RedisConnection
  let subscriber: RedisSubscriber
  private(set) var connectionStates: [RedisConnection.State] = []
  private(set) var subscriberStates: [RedisSubscriber.State] = []
  private(set) var messages: [Message] = []

  struct Message: Hashable {
    let channel: String
    let payload: [UInt8]
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop, _ endpoint: RedisEndpoint, _ limits: RedisLimits, _ setUp: RedisSetUp?) {
    self.loop = loop
    connection = RedisConnection(loop: loop, endpoint: endpoint, limits: limits, setUp: setUp)
    subscriber = RedisSubscriber(loop: loop, endpoint: endpoint, limits: limits)
  }

  func start() {
    connection.onStateChange = { self.connectionStates.append($0) }
    subscriber.onStateChange = { self.subscriberStates.append($0) }
    subscriber.onMessage = { self.messages.append(Message(channel: $0, payload: Array($1))) }
    connection.start()
    subscriber.start()
  }

  func close() {
    connection.close()
    subscriber.close()
  }

  func send(_ command: RedisCommand, timeout: Duration? = nil) async throws -> RedisReply {
    try await connection.send(command, timeout: timeout)
  }

  func sendPipeline(_ commands: [RedisCommand]) async throws -> [RedisReply] {
    try await connection.sendPipeline(commands)
  }

  /// The result of `send`.
  func result(of command: RedisCommand) async -> Result<RedisReply, RedisError> {
    do throws(RedisError) {
      return .success(try await connection.send(command))
    } catch {
      return .failure(error)
    }
  }

  func subscribe(_ channel: String) async throws {
    try await subscriber.subscribe(channel)
  }

  func run<R: Sendable>(_ body: @Sendable (isolated Client) async throws -> R) async rethrows -> R {
    try await body(self)
  }

  /// Waits until the condition holds, for as long as a busy machine may need.
  func eventually(_ condition: @Sendable (isolated Client) -> Bool) async -> Bool {
    (try? await TestKit.eventually { condition(self) }) != nil
  }
}

/// Gives the body a client of the endpoint on a loop of its own, and ends both afterwards.
func withClient<R>(
  of url: String, _ limits: RedisLimits = .patient, setUp: sending RedisSetUp? = nil,
  _ body: (Client) async throws -> R
) async throws -> R {
  // SAFETY: the body of a loop runs once, and nobody else has it.
  nonisolated(unsafe) let setUp = setUp
  return try await withLoop { loop in
    let client = Client(on: loop, try RedisEndpoint(url: url), limits, unsafe setUp)
    await client.start()
    do {
      let result = try await body(client)
      await client.close()
      return result
    } catch {
      await client.close()
      throw error
    }
  }
}

/// A server, and a client of it.
func withServerAndClient<R>(
  _ options: RedisServer.Options = RedisServer.Options(), _ limits: RedisLimits = .patient,
  _ body: (RedisServer, Client) async throws -> R
) async throws -> R {
  try await withRedisServer(options) { server in
    try await withClient(of: server.url, limits) { client in try await body(server, client) }
  }
}

/// Limits for tests on a machine that does much else: nothing times out by accident.
extension RedisLimits {
  static var patient: RedisLimits {
    var limits = RedisLimits()
    (limits.commandTimeout, limits.waitForConnection) = (.seconds(60), .seconds(60))
    (limits.connectTimeout, limits.setUpTimeout) = (.seconds(60), .seconds(60))
    limits.heartbeatInterval = .seconds(60)
    return limits
  }
}

extension Result where Failure == RedisError {
  var failureCode: RedisError.Code? {
    if case .failure(let error) = self { error.code } else { nil }
  }
}

// As a test writes replies: of arrays.
extension RedisReply {
  static func bulk(_ bytes: [UInt8]) -> RedisReply { .bulk(bytes[...]) }

  static func array(_ replies: [RedisReply]) -> RedisReply {
    var elements: [RedisReplies.Item] = []
    var bytes: [UInt8] = []
    for reply in replies { reply.add(to: &elements, &bytes) }
    return .array(RedisReplies(elements, bytes, places: elements.indices, count: replies.count))
  }

  private func add(to elements: inout [RedisReplies.Item], _ bytes: inout [UInt8]) {
    func place(_ text: some Sequence<UInt8>) -> Range<Int> {
      let start = bytes.count
      bytes += text
      return start..<bytes.count
    }
    switch self {
    case .status(let text): elements.append(.status(place(text.utf8)))
    case .error(let text): elements.append(.error(place(text.utf8)))
    case .integer(let value): elements.append(.integer(value))
    case .bulk(let content): elements.append(.bulk(place(content)))
    case .null: elements.append(.null)
    case .array(let replies):
      let start = elements.count
      elements.append(.null)
      for reply in replies { reply.add(to: &elements, &bytes) }
      elements[start] = .array(count: replies.count, end: elements.count)
    }
  }
}
