import BelfryRedis

/// Tickets that open a stream once. The first caller that takes a ticket uses it up, on any broker.
extension RedisStore {
  /// - Parameter name: a hash of the ticket, so that a reader of Redis has no ticket.
  package func putTicket(_ name: String, _ record: String, seconds: Int) async throws(StoreError) {
    let write = RedisCommand("SET", layout.ticket(name), record, "EX", seconds)
    _ = try await refusingErrors([write], at: "tickets")
  }

  /// - Returns: the record that was put with the ticket; nil if the ticket is gone.
  package func takeTicket(_ name: String) async throws(StoreError) -> String? {
    let place = "tickets"
    let replies = try await refusingErrors([RedisCommand("GETDEL", layout.ticket(name))], at: place)
    return try reading(at: place) { () throws(RedisError) in try replies[0].ifPresent?.string() }
  }
}

extension RedisLayout {
  /// Text: the account that a ticket lets in. It is in the partition that its name hashes to, so that tickets
  /// are spread over all partitions.
  fileprivate func ticket(_ name: String) -> String {
    prefix(partitions.holding(key: name)) + "ticket:" + name
  }
}
