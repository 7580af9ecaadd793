package import BelfryModel
import BelfryRedis

extension RedisStore {
  package func commit(_ transaction: Transaction) async throws(StoreError) -> CommitOutcome {
    let place = "commit \(transaction.space)"
    let command = try RedisCommand(committing: transaction, limits)
    let reply = try await call(command, at: place)
    let words = try reading(at: place) { () throws(RedisError) in try reply.array().map(bytes) }
    guard let outcome = CommitOutcome(words, transaction) else {
      throw StoreError(
        .corrupt, "the function's answer \(words.map { String(decoding: $0, as: UTF8.self) })", at: place)
    }
    if case .committed = outcome, let echo = transaction.echo { tell(echo) }
    return outcome
  }

  /// An event of the moment, and kept nowhere: a device that is away has nothing on its screen to bring up
  /// to date, and finds everything as it is when it comes. So the commit does not wait for this, and it is
  /// no part of it, for it lies in another partition. What is lost with the connection stays lost.
  private func tell(_ echo: DeviceEcho) {
    guard let message = try? LiveText.device(echo) else { return }
    connection.post(RedisCommand("SPUBLISH", RedisLayout.live(.personal(echo.account)), message))
  }
}

private func bytes(_ reply: RedisReply) throws(RedisError) -> ArraySlice<UInt8> { try reply.bytes() }

extension CommitOutcome {
  /// Nil when the words are not an answer of `send` or `commit`.
  fileprivate init?(_ words: [ArraySlice<UInt8>], _ transaction: Transaction) {
    guard let first = words.first else { return nil }
    let ids = words.dropFirst().map { MessageID(streamBytes: $0) }
    switch String(decoding: first, as: UTF8.self) {
    case "committed":
      guard !ids.contains(nil), let before = ids.first ?? nil,
        ids.count == transaction.announcements.count + 1
      else { return nil }
      self = .committed(Commit(ids: ids.dropFirst().compactMap(\.self), before: before))
    case "duplicate":
      guard let first = ids.first ?? nil else { return nil }
      self = .duplicate(of: first)
    case "different": self = .differentContent
    case "conflict": self = .conflict
    case "ceiling":
      let name = words.last.map { String(decoding: $0, as: UTF8.self) }
      guard let table = transaction.ceilings.keys.first(where: { $0.name == name }) else { return nil }
      self = .ceiling(table)
    default: return nil
    }
  }
}
