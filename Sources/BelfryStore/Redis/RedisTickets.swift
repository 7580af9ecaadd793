import BelfryRedis

/// Tickets that open a stream once. They are used up by whoever takes them first, on whatever broker.
extension RedisStore {
  /// - Parameter name: a hash of the ticket, so that whoever reads Redis has no ticket.
  package func putTicket(_ name: String, _ record: String, seconds: Int) async throws(StoreError) {
    let write = RedisCommand("SET", layout.ticket(name), record, "EX", seconds)
    _ = try await refusingErrors([write], at: "tickets")
  }

  /// - Returns: what was put with the ticket; nil where there is none any more.
  package func takeTicket(_ name: String) async throws(StoreError) -> String? {
    let place = "tickets"
    let replies = try await refusingErrors([RedisCommand("GETDEL", layout.ticket(name))], at: place)
    return try reading(at: place) { () throws(RedisError) in try replies[0].ifPresent?.string() }
  }
}

extension RedisLayout {
  /// Text: whom a ticket lets in. In the partition that its name hashes to, so that tickets lie everywhere.
  fileprivate func ticket(_ name: String) -> String {
    prefix(partitions.holding(key: name)) + "ticket:" + name
  }
}
