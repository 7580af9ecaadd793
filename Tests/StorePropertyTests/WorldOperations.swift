import BelfryModel
import BelfryStore

extension World {
  /// The operations that a step amounts to.
  func operations(_ step: Step, _ number: Int) async throws -> [any Operation] {
    switch step {
    case .createServer(let server, let owner):
      return [
        CreateServer(
          id: cast.servers[server], defaultChannel: cast.channel(0, of: server), owner: cast.accounts[owner],
          actor: actor(owner), name: "Tower")
      ]
    case .updateServer(let server, let by, let name):
      var update = UpdateServer(cast.servers[server], actor: actor(by))
      update.serverName = name
      return [update]
    case .removeServer(let server, let by): return [RemoveServer(cast.servers[server], actor: actor(by))]
    case .addMembers(let server, let by, let added):
      return [
        AddMembers(cast.servers[server], actor: actor(by), accounts: accounts(added), requestId: "r\(number)")
      ]
    case .kick(let server, let by, let kicked):
      return [KickMembers(cast.servers[server], actor: actor(by), accounts: accounts(kicked))]
    case .leave(let server, let account):
      return [LeaveServer(cast.servers[server], actor: actor(account))]
    case .subscribe(let server, let channel, let account, let isSubscribed):
      return [
        SetSubscription(
          cast.servers[server], channel: channel.map { cast.channel($0, of: server) },
          actor: actor(account), isSubscribed: isSubscribed)
      ]
    case .openChannel, .updateChannel, .closeChannel: return channelOperations(step)
    case .send(let send): return try await sends(send, as: "g\(number)")
    case .command(let step):
      guard let command = Command.byName[step.command] else { return [] }
      return [command.operation(try await context(step, command, number))]
    case .recall(let account, let place, let by):
      let seen = try await visible(to: cast.accounts[account])
      guard !seen.isEmpty else { return [] }
      let chosen = seen[place % seen.count]
      return [RecallNotification(chosen.entry, in: chosen.space, by: actor(by))]
    case .update(let account, let place, let by, let body, let status):
      var seen = try await visible(to: cast.accounts[account])
      // Mostly what may be updated at all.
      if place % 4 != 0 {
        seen.removeAll {
          RecordJSON.value(NotificationContent.self, $0.entry.contentJSON)?.type != Catalogue.custom.code
        }
      }
      guard !seen.isEmpty else { return [] }
      let chosen = seen[place % seen.count]
      return [
        try UpdateNotification(
          chosen.entry, in: chosen.space, by: actor(by), body: body, ext: nil, status: status)
      ]
    default: return []
    }
  }

  private func channelOperations(_ step: Step) -> [any Operation] {
    switch step {
    case .openChannel(let server, let channel, let by, let type, let membership, let members):
      [
        CreateChannel(
          cast.servers[server], id: cast.channel(channel, of: server), actor: actor(by), name: "bells",
          type: type, membership: membership, members: accounts(members))
      ]
    case .updateChannel(let server, let channel, let by, let name):
      [
        renamed(
          UpdateChannel(cast.servers[server], id: cast.channel(channel, of: server), actor: actor(by)), name)
      ]
    case .closeChannel(let server, let channel, let by):
      [RemoveChannel(cast.servers[server], id: cast.channel(channel, of: server), actor: actor(by))]
    default: []
    }
  }

  private func renamed(_ update: UpdateChannel, _ name: String) -> UpdateChannel {
    var update = update
    update.channelName = name
    return update
  }

  /// The operations of a batch. A refusal before anything is decided refuses the line alone.
  func operations(_ sends: [SendStep], _ number: Int) async throws -> [SendNotification] {
    var operations: [SendNotification] = []
    for (line, send) in sends.enumerated() {
      do {
        operations += try await self.sends(send, as: "g\(number).\(line)")
      } catch is Refusal {}
    }
    return operations
  }

  /// - Parameter generatedClientId: the id of a send without one. A client that repeats a send uses the id that it was told,
  ///   so a step that is done again has the same.
  private func sends(
    _ send: SendStep, as generatedClientId: String
  ) async throws -> [SendNotification] {
    var generatedClientId = generatedClientId
    var content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    content.serverId = send.server.map { cast.servers[$0] }
    content.channelId = send.server.flatMap { server in send.channel.map { cast.channel($0, of: server) } }
    if let group = send.group { content.groupId = EntityID(try await present(.group, group).space.name) }
    if let room = send.room { content.roomId = EntityID(try await present(.room, room).space.name) }
    content.toAccids = send.accounts.map(accounts)
    content.messageClientId = send.clientId
    content.body = send.body
    content.attach = send.attach
    content.setting.persistEnable = send.isPersisted
    let now = try await store.nowMilliseconds()
    // A repetition has another content at another time. An id for each keeps clocks from deciding if they are the same.
    if send.expiry != .never, send.expiry != .late {
      content.messageClientId = nil
      expiringSends += 1
      generatedClientId = "expiring \(expiringSends)"
    }
    switch send.expiry {
    case .never: break
    case .late: content.expireAt = Self.longAfterMilliseconds
    case .soon:
      content.expireAt = now + 1
      lastExpiry = now + 1
    case .past: content.expireAt = now
    }
    return try SendNotification.sends(content, by: actor(send.by), generatedClientId: generatedClientId)
  }

  private func actor(_ number: Int?) -> Actor { cast.actor(number.map { cast.accounts[$0] }) }

  private func accounts(_ numbers: [Int]) -> [AccountID] { numbers.map { cast.accounts[$0] } }
}
