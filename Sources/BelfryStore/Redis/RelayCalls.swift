import BelfryModel
import BelfryRedis

extension RedisStore {
  /// Relays messages to their partitions, in one pipeline. Idempotent.
  /// - Returns: the messages that failed, and why.
  /// - Throws: if all of them failed since no node answers.
  func sendRelays(_ messages: [RelayMessage]) async throws(StoreError) -> [(
    message: RelayMessage, problem: StoreError
  )] {
    let calls = RelayCall.calls(for: messages, among: partitions)
    var failures: [(message: RelayMessage, problem: StoreError)] = []
    // One node that is away, or lacks replicas, does not keep the others' partitions from learning of anything.
    for (call, result) in zip(calls, try await callEach(calls.map(command), at: "relays")) {
      let reply: RedisReply
      switch result {
      case .success(let answer): reply = answer
      case .failure(let problem):
        failures += call.messages.map { ($0, problem) }
        continue
      }
      // An error in place of the results is the result of each message.
      let results = (try? reply.array(count: call.messages.count)).map { Array($0) }
      for (position, message) in call.messages.enumerated() {
        do throws(RedisError) {
          try (results?[position] ?? reply).expectDone()
        } catch {
          failures.append((message, StoreError(error, at: "relay \(message.space)")))
        }
      }
    }
    return failures
  }

  private func command(_ call: RelayCall) -> RedisCommand {
    var command = layout.call(call.function.function, in: call.partition)
    switch call.function {
    case .relay:
      command.append(limits.spacesPerIndex)
      command.append(limits.retentionMilliseconds)
      command.append(limits.invitationMilliseconds)
      command.append(Limits.invitationsPerAccount)
    case .deliver:
      command.append(limits.retentionMilliseconds)
    case .list: break
    }
    for message in call.messages { command.append(message) }
    return command
  }
}

extension RelayMessage.Function {
  fileprivate var function: StoreFunction {
    switch self {
    case .relay: .relay
    case .deliver: .deliver
    case .list: .list
    }
  }
}

extension RedisCommand {
  fileprivate mutating func append(_ message: RelayMessage) {
    switch message.payload {
    case .index(let change, let account): append(message, of: account, change.word)
    case .presence(let standing): append(message, of: standing.account, "present")
    case .delivery(let delivery, let position):
      append(delivery.account.text)
      append(message.version.streamForm)
      append(position)
      append(message.charged?.text ?? "")
      append(delivery.audience.text)
      append(delivery.content.json)
    case .listing(let listing):
      append(listing, of: message.space)
    }
  }
}

extension RedisCommand {
  /// The change that the index of an account learns.
  fileprivate mutating func append(_ message: RelayMessage, of account: AccountID, _ kind: String) {
    append(account.text)
    append(message.space.key)
    append(kind)
    append(message.version.streamForm)
    append(message.before.streamForm)
    append(IndexEntry.earlierMax(in: message.space))
    append(message.charged?.text ?? "")
  }
}

extension RedisReply {
  /// Throws what the function said went wrong with one message.
  fileprivate func expectDone() throws(RedisError) {
    guard case .bulk = self else {
      _ = try integer()
      return
    }
    let text = try string()
    guard text.hasPrefix("failed ") else { throw RedisError(.unexpectedReply, cause: text, place: "relay") }
    throw .replied(String(text.dropFirst(7)), to: "relay")
  }
}
