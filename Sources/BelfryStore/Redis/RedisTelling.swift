import BelfryModel
import BelfryRedis

extension RedisStore {
  /// Tells other partitions, all in one pipeline. Idempotent.
  /// - Returns: what could not be told, and why.
  func tell(_ tellings: [Telling]) async throws(StoreError) -> [(telling: Telling, problem: StoreError)] {
    let calls = TellingCall.calls(for: tellings, among: partitions)
    let replies = try await call(calls.map(command), at: "relays")
    var failures: [(telling: Telling, problem: StoreError)] = []
    for (call, reply) in zip(calls, replies) {
      // An error in the place of the results is each one's.
      let results = (try? reply.array(count: call.tellings.count)).map { Array($0) }
      for (position, telling) in call.tellings.enumerated() {
        do throws(RedisError) {
          try (results?[position] ?? reply).expectTold()
        } catch {
          failures.append((telling, StoreError(error, at: "relay \(telling.space)")))
        }
      }
    }
    return failures
  }

  private func command(_ call: TellingCall) -> RedisCommand {
    var command = layout.call(call.function.function, in: call.partition)
    switch call.function {
    case .relay:
      command.append(limits.spacesPerIndex)
      command.append(limits.retentionMilliseconds)
    case .deliver:
      command.append(limits.retentionMilliseconds)
    case .list: break
    }
    for telling in call.tellings { command.append(telling) }
    return command
  }
}

extension Telling.Function {
  fileprivate var function: StoreFunction {
    switch self {
    case .relay: .relay
    case .deliver: .deliver
    case .list: .list
    }
  }
}

extension RedisCommand {
  fileprivate mutating func append(_ telling: Telling) {
    switch telling.message {
    case .index(let kind, let account):
      append(account.text)
      append(telling.space.key)
      append(kind.rawValue)
      append(telling.version.streamForm)
      append(telling.before.streamForm)
      append(IndexEntry.earlierMax(in: telling.space))
      append(telling.charged?.text ?? "")
    case .delivery(let delivery, let position):
      append(delivery.account.text)
      append(telling.version.streamForm)
      append(position)
      append(telling.charged?.text ?? "")
      append(delivery.audience.text)
      append(delivery.content.json)
    case .listing(let listing):
      append(listing, of: telling.space)
    }
  }
}

extension RedisReply {
  /// Throws what the function said went wrong with one of those it tells.
  fileprivate func expectTold() throws(RedisError) {
    guard case .bulk = self else {
      _ = try integer()
      return
    }
    let text = try string()
    guard text.hasPrefix("failed ") else { throw RedisError(.unexpectedReply, cause: text, place: "relay") }
    throw .replied(String(text.dropFirst(7)), to: "relay")
  }
}
