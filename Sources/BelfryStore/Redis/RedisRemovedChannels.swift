import BelfryModel
import BelfryRedis

// Ends what member records say of channels that were removed.
extension RedisStore {
  /// - Parameter servers: each once.
  func existingChannels(of servers: [SpaceID]) async throws(StoreError) -> [SpaceID: ExistingChannels] {
    // Redis carries out the three in this order.
    let questions = servers.flatMap { server in
      let last = RedisCommand(
        "HGET", layout.partitionHash(layout.partition(of: server)), RedisLayout.lastField)
      return [last, RedisCommand("HKEYS", layout.table(TableAddress(server, .channels))), last]
    }
    let replies = try await pipeline(questions, at: "channels")
    let channels = try reading(at: "channels") { () throws(RedisError) in
      try servers.indices.map { index throws(RedisError) in
        let names = try replies[3 * index + 1].array().map { name throws(RedisError) in try name.string() }
        return ExistingChannels(
          Set(names.compactMap { EntityID($0) }),
          before: try replies[3 * index].ifPresent?.messageID() ?? .zero,
          after: try replies[3 * index + 2].ifPresent?.messageID() ?? .zero)
      }
    }
    return Dictionary(zip(servers, channels)) { $1 }
  }

  /// - Parameter members: of rosters, a few hundred at most. A record that was changed since it was read stays as it is.
  func endRemovedChannels(
    in members: [(space: SpaceID, account: AccountID, text: String, record: MemberRecord)],
    _ bounds: SweepBounds
  ) async throws(StoreError) {
    let withChannels = members.filter {
      !$0.record.membership.channels.isEmpty || !$0.record.channelMutes.isEmpty
    }
    let servers = Dictionary(grouping: withChannels, by: \.space)
    let existing = try await existingChannels(of: Array(servers.keys))
    var calls: [RedisCommand] = []
    for (server, members) in servers {
      guard let channels = existing[server] else { continue }
      var call = layout.call(.replaceUnchanged, in: layout.partition(of: server))
      call.append(server.key)
      call.append(RecordTable.roster.name)
      var isNeeded = false
      for member in members {
        var record = member.record
        record.leaveRemovedChannels(channels, forgottenFloor: bounds.forgotten)
        if record == member.record { continue }
        isNeeded = true
        call.append(contentsOf: [member.account.text, member.text, record.text])
      }
      if isNeeded { calls.append(call) }
    }
    _ = try await checked(calls, at: "removed channels")
  }
}
