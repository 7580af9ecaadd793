package import BelfryModel
import BelfryRedis

extension RedisStore {
  package func relayOutbox(of partition: Partition) async throws(StoreError) {
    try await relays.run(partition) { () throws(StoreError) in
      var pass = relays.start(of: partition)
      try await relay(partition, &pass)
      relays.end(pass, of: partition)
      if let problem = pass.problem { throw problem }
    }
  }

  /// Relays up to the present end of the outbox: others may add to it faster than it is emptied.
  private func relay(_ partition: Partition, _ pass: inout OutboxPass) async throws(StoreError) {
    var end: MessageID?
    while true {
      let page = try await page(of: partition, after: pass.last)
      try await relay(page, of: partition, &pass)
      guard page.count == OutboxItem.perPage, let last = page.last else { return }
      if end == nil { end = try await lastIDs(of: [partition])[0] }
      if let end, let version = MessageID(streamForm: last.id), version >= end { return }
    }
  }

  private func page(of partition: Partition, after last: String?) async throws(StoreError) -> [OutboxEntry] {
    let place = "outbox \(partition.number)"
    let range = RedisCommand(
      "XRANGE", layout.outbox(partition), last.map { "(" + $0 } ?? "-", "+", "COUNT", OutboxItem.perPage)
    // The items that another partition learns of must not be lost here.
    let reply = try await pipeline([range], isAwaited: true, at: place)[0]
    return try reading(at: place) { () throws(RedisError) in
      try reply.array().map { entry throws(RedisError) in try OutboxEntry(entry) }
    }
  }

  private func relay(
    _ page: [OutboxEntry], of partition: Partition, _ pass: inout OutboxPass
  ) async throws(StoreError) {
    if page.isEmpty { return }
    var work = OutboxRounds(page.compactMap(\.item), held: pass.held)
    var failed: [MessageID: StoreError] = [:]
    while true {
      let round = work.nextRound()
      if round.isEmpty { break }
      for (message, problem) in try await sendRelays(round) {
        work.fail(message)
        failed[message.version] = problem
      }
    }
    for entry in page where entry.item == nil {
      note(StoreError(.corrupt, "item \(entry.id)", at: "outbox \(partition.number)"), &pass)
    }
    for (_, problem) in failed.sorted(by: { $0.key < $1.key }) { note(problem, &pass) }
    try await remove(work.done, from: partition)
    pass.held = work.held
    pass.last = page.last?.id
  }

  private func note(_ problem: StoreError, _ pass: inout OutboxPass) {
    pass.note(problem)
    relays.statistics.failures += 1
    relays.statistics.lastFailure = problem.description
  }

  /// Removes items after they are relayed. If this broker dies in between, another relays them again, which
  /// does no harm.
  private func remove(_ items: [OutboxItem], from partition: Partition) async throws(StoreError) {
    if items.isEmpty { return }
    let place = "outbox \(partition.number)"
    var removal = RedisCommand("XDEL", layout.outbox(partition))
    removal.append(contentsOf: items.map(\.version.streamForm))
    let reply = try await pipeline([removal], at: place)[0]
    _ = try reading(at: place) { () throws(RedisError) in try reply.integer() }
  }

  // MARK: Outboxes that hold items

  package func partitionsToRelay() async throws(StoreError) -> [Partition] {
    let place = "outboxes"
    let waiting = try await ask(outboxLengths, at: place).filter { $0.number > 0 }
      .map { (partition: $0.partition, items: $0.number) }
    relays.statistics.waiting = waiting.reduce(0) { $0 + $1.items }
    relays.statistics.oldestSeconds = try await oldestItemSeconds(of: waiting.map(\.partition))
    return waiting.map(\.partition)
  }

  /// Asks each partition a question whose answer is a number.
  func ask(
    _ questions: [RedisCommand], at place: String
  ) async throws(StoreError) -> [(partition: Partition, number: Int)] {
    let asked = zip(partitions.all, questions).map { (partition: $0, command: $1) }
    let answers = try await ask(asked, at: place) { reply throws(RedisError) in Int(try reply.integer()) }
    return answers.map { (partition: $0.partition, number: $0.answer) }
  }

  /// Asks partitions questions. A partition whose node is away has no answer, and the others have theirs.
  /// - Throws: if no question is answered.
  func ask<Answer>(
    _ questions: [(partition: Partition, command: RedisCommand)], at place: String,
    _ read: (RedisReply) throws(RedisError) -> Answer
  ) async throws(StoreError) -> [(partition: Partition, answer: Answer)] {
    var (answers, failure): ([(partition: Partition, answer: Answer)], StoreError?) = ([], nil)
    let results = await pipelineEach(questions.map(\.command), at: place)
    for (question, result) in zip(questions, results) {
      do throws(StoreError) {
        let reply = try result.get()
        let answer = try reading(at: place) { () throws(RedisError) in try read(reply) }
        answers.append((question.partition, answer))
      } catch {
        failure = error
      }
    }
    if answers.isEmpty, let failure { throw failure }
    return answers
  }

  private func oldestItemSeconds(of partitions: [Partition]) async throws(StoreError) -> Int {
    if partitions.isEmpty { return 0 }
    let now = try await nowMilliseconds()
    let commands = partitions.map {
      RedisCommand("XRANGE", layout.outbox($0), "-", "+", "COUNT", 1)
    }
    let replies = try await pipeline(commands, at: "outboxes")
    let oldest = try reading(at: "outboxes") { () throws(RedisError) in
      var oldest = now
      for reply in replies {
        guard let entry = try reply.array().first else { continue }
        let version = MessageID(streamForm: try OutboxEntry(entry).id)
        oldest = min(oldest, version?.unixMilliseconds ?? now)
      }
      return oldest
    }
    return Int(now - oldest) / 1_000
  }
}

/// An element of the outbox.
private struct OutboxEntry {
  var id: String
  /// Nil if it cannot be read.
  var item: OutboxItem?

  private struct Text: Decodable {
    var space: String
    var before: String
    /// The changes of the commit's own partition that failed in the commit, if any, and the changes for other
    /// partitions.
    var relays: [Relays]
  }

  init(_ reply: RedisReply) throws(RedisError) {
    let parts = try reply.array(count: 2)
    id = try parts[0].string()
    guard let version = MessageID(streamForm: id), let fields = try? parts[1].array(count: 2),
      let json = try? fields[1].string(), let text = RecordJSON.value(Text.self, json),
      let space = SpaceID(key: text.space), let before = MessageID(streamForm: text.before)
    else { return }
    item = OutboxItem(space: space, version: version, before: before, relays: Relays(joining: text.relays))
  }
}

extension Limits {
  /// The most spaces of an account's index. Beyond it, spaces that the account has left give way. The number of
  /// spaces that an account is in is limited when it joins, the number of direct messages when they are sent. Spaces
  /// that it has left have room of their own, since otherwise a full mailbox would push out such spaces with unread
  /// entries.
  var spacesPerIndex: Int {
    serversPerAccount + groupsPerAccount + roomsPerAccount + directMessagesPerMailbox
      + Limits.leftSpacesPerAccount
  }
}
