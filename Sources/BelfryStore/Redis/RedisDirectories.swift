package import BelfryModel
import BelfryRedis

// MARK: - Directories

extension RedisStore {
  /// Reads a page with one command, which costs the same at any place of the directory.
  package func page(
    of directory: ListingChange.Directory, after cursor: PageCursor?, limit: Int
  ) async throws(StoreError) -> DirectoryPage {
    let place = "page \(directory)"
    var start = "+"
    if let cursor { start = "(" + (try DirectoryPlace(cursor, of: directory).text) }
    let limit = max(1, limit)
    let range = RedisCommand(
      "ZREVRANGEBYLEX", layout.directory(directory), start, "-", "LIMIT", 0, limit + 1)
    let reply = try await pipeline([range], at: place)[0]
    let texts = try reading(at: place) { () throws(RedisError) in
      try reply.array().map { text throws(RedisError) in try text.string() }
    }
    // A text that is no place may have been put there by hand, and is not shown as a space.
    return DirectoryPage(texts.compactMap { DirectoryPlace(text: $0) }, limit: limit)
  }
}

// MARK: - Spaces to look at

extension RedisStore {
  package func dueSpaces(nowMilliseconds: Int64) async throws(StoreError) -> DueSpaces {
    let place = "due spaces"
    let answers = try await ask(isThereAnyWake, at: place)
    let isComplete = answers.count == partitions.all.count
    let waiting = answers.filter { $0.number > 0 }.map(\.partition)
    guard !waiting.isEmpty else { return DueSpaces(spaces: [], isComplete: isComplete) }
    let commands = waiting.map { partition in
      RedisCommand(
        "ZRANGE", layout.wake(partition), "-inf", nowMilliseconds, "BYSCORE", "LIMIT", 0,
        DueSpace.perPartition, "WITHSCORES")
    }
    let replies = try await pipeline(commands, at: place)
    var due: [DueSpace] = []
    for reply in replies {
      let words = try reading(at: place) { () throws(RedisError) in
        try reply.array().map { word throws(RedisError) in try word.string() }
      }
      for index in stride(from: 0, to: words.count - 1, by: 2) {
        guard let space = SpaceID(key: words[index]), let time = Int64(words[index + 1]) else { continue }
        due.append(DueSpace(space: space, atMilliseconds: time))
      }
    }
    return DueSpaces(spaces: due, isComplete: isComplete)
  }

  package func postpone(_ due: DueSpace, toMilliseconds time: Int64?) async throws(StoreError) {
    var call = layout.call(.postpone, in: layout.partition(of: due.space))
    call.append(due.space.key)
    call.append(due.atMilliseconds)
    call.append(time.map(String.init) ?? "")
    let place = "postpone \(due.space)"
    let reply = try await self.call(call, at: place)
    _ = try reading(at: place) { () throws(RedisError) in try reply.integer() }
  }
}
