package import BelfryModel
import BelfryRedis

extension RedisStore {
  package func records(_ addresses: [RecordAddress]) async throws(StoreError) -> Records {
    let reads = RecordReads(addresses)
    // If an operation finds that all is done already, it is acknowledged as if it had done it. So the data
    // that it read must not be lost either.
    let records = Records(try await texts(reads))
    try await refuseIncomplete(
      addresses.filter { $0.isOfSpaceWithSettings && records.text($0) == nil }.map(\.tableAddress.space))
    return records
  }

  private func texts(_ reads: RecordReads) async throws(StoreError) -> [RecordAddress: String?] {
    let place = "records"
    do throws(StoreError) {
      let replies = try await pipeline(reads.commands(layout), isAwaited: true, at: place)
      return try reading(at: place) { () throws(RedisError) in try reads.texts(replies) }
    } catch {
      guard error.code == .memoryFull else { throw error }
      return try await textsWithoutTransactions(reads, at: place)
    }
  }

  /// How often records are read again that changed meanwhile.
  private static let readsWithoutTransactionsMax = 5

  /// A Redis without memory refuses each command within MULTI, reads too. So the tables are read one by one, until two
  /// readings agree. That is weaker than a transaction: a record that changes and changes back between two readings goes
  /// unnoticed. It is good enough while memory is full, since then nearly all changes are refused.
  private func textsWithoutTransactions(
    _ reads: RecordReads, at place: String
  ) async throws(StoreError) -> [RecordAddress: String?] {
    var last: [RecordAddress: String?]?
    for _ in 0..<Self.readsWithoutTransactionsMax {
      let replies = try await pipeline(reads.plainCommands(layout), isAwaited: true, at: place)
      let found = try reading(at: place) { () throws(RedisError) in try reads.texts(ofPlain: replies) }
      if found == last { return found }
      last = found
    }
    throw StoreError(.unavailable, "the records change while they are read", at: place)
  }

  package func counts(_ tables: [TableAddress]) async throws(StoreError) -> [Int] {
    let commands = tables.map { RedisCommand("HLEN", layout.table($0)) }
    let replies = try await pipeline(commands, at: "counts")
    return try reading(at: "counts") { () throws(RedisError) in try replies.map(integer) }
  }
}

extension RecordAddress {
  /// True for settings. Without this record, the space counts as one that does not exist.
  fileprivate var isOfSpaceWithSettings: Bool {
    tableAddress.table == .settings && tableAddress.space.kind.hasMembers
  }
}

/// Reads each table with one HMGET. Those of one space are in a MULTI, so that they are as of one moment.
/// Otherwise an account that leaves in between could be found neither among the members nor among the former.
private struct RecordReads {
  private struct Read {
    var table: TableAddress
    var addresses: [RecordAddress]

    func command(_ layout: RedisLayout) -> RedisCommand {
      var command = RedisCommand("HMGET", layout.table(table))
      for address in addresses { command.append(address.field) }
      return command
    }

    func take(_ answer: RedisReply, into texts: inout [RecordAddress: String?]) throws(RedisError) {
      let values = try answer.array(count: addresses.count)
      for (address, value) in zip(addresses, values) {
        texts[address] = .some(try value.ifPresent?.string())
      }
    }
  }

  /// The reads by space, in the order of the commands.
  private var spaces: [[Read]] = []

  init(_ addresses: [RecordAddress]) {
    var places: [TableAddress: (space: Int, table: Int)] = [:]
    var spacePlaces: [SpaceID: Int] = [:]
    for address in addresses {
      let table = address.tableAddress
      if let place = places[table] {
        spaces[place.space][place.table].addresses.append(address)
        continue
      }
      let space = spacePlaces[table.space] ?? spaces.count
      if space == spaces.count {
        spaces.append([])
        spacePlaces[table.space] = space
      }
      places[table] = (space, spaces[space].count)
      spaces[space].append(Read(table: table, addresses: [address]))
    }
  }

  func commands(_ layout: RedisLayout) -> [RedisCommand] {
    var commands: [RedisCommand] = []
    for reads in spaces {
      if reads.count > 1 { commands.append(RedisCommand("MULTI")) }
      commands += reads.map { $0.command(layout) }
      if reads.count > 1 { commands.append(RedisCommand("EXEC")) }
    }
    return commands
  }

  func texts(_ replies: [RedisReply]) throws(RedisError) -> [RecordAddress: String?] {
    var texts: [RecordAddress: String?] = [:]
    var rest = replies[...]
    for reads in spaces {
      let answers: [RedisReply]
      if reads.count > 1 {
        // MULTI, one QUEUED per command, and all the answers in EXEC's.
        rest = rest.dropFirst(reads.count + 1)
        answers = Array(try rest.removeFirst().array(count: reads.count))
      } else {
        answers = [rest.removeFirst()]
      }
      for (read, answer) in zip(reads, answers) { try read.take(answer, into: &texts) }
    }
    return texts
  }

  /// The reads of ``commands(_:)`` without MULTI.
  func plainCommands(_ layout: RedisLayout) -> [RedisCommand] {
    spaces.flatMap { reads in reads.map { $0.command(layout) } }
  }

  func texts(ofPlain replies: [RedisReply]) throws(RedisError) -> [RecordAddress: String?] {
    var texts: [RecordAddress: String?] = [:]
    for (read, answer) in zip(spaces.joined(), replies) { try read.take(answer, into: &texts) }
    return texts
  }
}

private func integer(_ reply: RedisReply) throws(RedisError) -> Int { Int(try reply.integer()) }
