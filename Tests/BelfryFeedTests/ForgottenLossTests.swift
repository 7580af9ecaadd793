import BelfryFeed
import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

/// A loss beyond retention is told for one more retention, also if nothing else is kept of the space or the account.
@Suite struct ForgottenLossTests {
  private static let bob: AccountID = "bob"

  @Test func aPersonalNotificationThatIsLostIsTold() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        let cursor = try await cursorOfBob(reader, store)
        let missed = try await send("missed", to: [Self.bob], by: store)
        let floor = MessageID(firstAtUnixMilliseconds: missed.unixMilliseconds + 1)
        try await store.sweep(.personal(Self.bob), floor: floor, forgotten: .zero)
        #expect(try await tells(missed, behind: cursor, reader))
        try await store.sweep(.personal(Self.bob), floor: floor, forgotten: floor)
        #expect(try await !tells(missed, behind: cursor, reader))
      }
    }
  }

  /// Its space and the account's index are swept one after the other, in either order.
  @Test(arguments: [false, true]) func aDirectMessageThatIsLostIsTold(isIndexFirst: Bool) async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        let cursor = try await cursorOfBob(reader, store)
        let missed = try await send("missed", to: [Self.bob, "eve"], by: store)
        let space = try #require(try await store.index(of: Self.bob).first?.space)
        let floor = MessageID(firstAtUnixMilliseconds: missed.unixMilliseconds + 1)
        if isIndexFirst { try await store.sweepIndex(of: Self.bob, floor: floor) }
        try await store.sweep(space, floor: floor, forgotten: .zero)
        #expect(try await tells(missed, behind: cursor, reader))
        if !isIndexFirst { try await store.sweepIndex(of: Self.bob, floor: floor) }
        try await store.sweep(.personal(Self.bob), floor: floor, forgotten: .zero)
        #expect(try await store.index(of: Self.bob).isEmpty)
        #expect(try await tells(missed, behind: cursor, reader))
        let end = try await reader.page(for: Self.bob, after: cursor, limit: 10).cursor
        #expect(try await reader.page(for: Self.bob, after: end, limit: 10).gap == nil, "it was told once")
        try await store.sweep(space, floor: floor, forgotten: floor)
        #expect(try await store.ends(of: [space])[0].appended == .zero)
      }
    }
  }

  /// The loss is noted at the end of the message's millisecond, and the account's partition may have given its last id in it.
  @Test func aLossInTheMillisecondOfTheLastIDIsToldOnce() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        let cursor = try await cursorOfBob(reader, store)
        var newest: IndexEntry?
        for attempt in 1...1_000 where newest.map({ $0.version.isOfOneMillisecond(with: $0.addedAt) }) != true
        {
          _ = try await send("missed \(attempt)", to: [Self.bob, "eve"], by: store)
          newest = try await store.index(of: Self.bob).max { $0.addedAt < $1.addedAt }
        }
        let last = try #require(newest)
        try #require(last.version.isOfOneMillisecond(with: last.addedAt))
        let floor = MessageID(firstAtUnixMilliseconds: last.addedAt.unixMilliseconds + 1)
        try await store.sweepIndex(of: Self.bob, floor: floor)
        let page = try await reader.page(for: Self.bob, after: cursor, limit: 10)
        #expect(page.gap != nil)
        #expect(try await reader.page(for: Self.bob, after: page.cursor, limit: 10).gap == nil)
      }
    }
  }

  /// One that was read is missed by nobody.
  @Test func aDirectMessageThatWasReadIsNotTold() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        let cursor = try await cursorOfBob(reader, store)
        let read = try await send("read", to: [Self.bob, "eve"], by: store)
        #expect(try await reader.markRead(account: Self.bob, device: nil, items: [read]) == 1)
        let floor = MessageID(firstAtUnixMilliseconds: read.unixMilliseconds + 1)
        try await store.sweepIndex(of: Self.bob, floor: floor)
        #expect(try await reader.page(for: Self.bob, after: cursor, limit: 10).gap == nil)
      }
    }
  }

  /// The account was away when a notification came to a server, and when it lost the server.
  @Test(arguments: [false, true]) func aLossInAServerThatIsGoneIsTold(isRemoved: Bool) async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        let (server, eve): (EntityID, AccountID) = (7, "eve")
        let runner = OperationRunner(store: store, limits: Limits())
        let app = Actor(account: nil, isTrusted: true)
        _ = try await runner.run(
          CreateServer(id: server, defaultChannel: 1, owner: eve, actor: Actor(account: eve), name: "s"))
        _ = try await runner.run(AddMembers(server, actor: app, accounts: [Self.bob], requestId: "r"))
        try await relay(store)
        let cursor = try await cursorOfBob(reader, store)
        var content = NotificationContent(type: Catalogue.custom.code, toType: .server)
        content.serverId = server
        let send = try #require(try SendNotification.sends(content, by: app, generatedClientId: "m").first)
        let missed = try #require(try await runner.run(send).commit?.ids.first)
        if isRemoved {
          _ = try await runner.run(RemoveServer(server, actor: Actor(account: eve)))
        } else {
          _ = try await runner.run(KickMembers(server, actor: app, accounts: [Self.bob]))
        }
        try await relay(store)
        let retention = Limits().retentionMilliseconds
        let partitions = [SpaceID.server(server), .personal(Self.bob)].map { store.partitions.holding($0) }
        for (passed, isTold) in [(retention, true), (2 * retention, false)] {
          for partition in partitions {
            try await store.sweep(partition, nowMilliseconds: missed.unixMilliseconds + passed + 60_000)
          }
          #expect(try await tells(missed, behind: cursor, reader) == isTold)
        }
        #expect(try await store.index(of: Self.bob).isEmpty)
      }
    }
  }

  /// The account was away when a notification came to a channel that was removed afterwards. Its record still says so.
  @Test func aLossInAChannelThatIsGoneIsTold() async throws {
    try await withRedisServer { redis in
      try await withReader(of: redis.url) { reader, store in
        let (server, channel, eve): (EntityID, EntityID, AccountID) = (7, 9, "eve")
        let runner = OperationRunner(store: store, limits: Limits())
        let (app, owner) = (Actor(account: nil, isTrusted: true), Actor(account: eve))
        _ = try await runner.run(
          CreateServer(id: server, defaultChannel: 1, owner: eve, actor: owner, name: "s"))
        _ = try await runner.run(AddMembers(server, actor: app, accounts: [Self.bob], requestId: "r"))
        _ = try await runner.run(
          CreateChannel(
            server, id: channel, actor: owner, name: "c", type: .private, membership: .roster,
            members: [Self.bob]))
        try await relay(store)
        let cursor = try await cursorOfBob(reader, store)
        var content = NotificationContent(type: Catalogue.custom.code, toType: .channel)
        (content.serverId, content.channelId) = (server, channel)
        let send = try #require(try SendNotification.sends(content, by: app, generatedClientId: "m").first)
        let missed = try #require(try await runner.run(send).commit?.ids.first)
        _ = try await runner.run(RemoveChannel(server, id: channel, actor: owner))
        let partition = store.partitions.holding(.server(server))
        let retention = Limits().retentionMilliseconds
        // The sweep first notes the removal in bob's record, and forgets it with a later visit.
        for passed in [0, retention + 60_000, retention + 120_000] {
          try await store.sweep(partition, nowMilliseconds: missed.unixMilliseconds + passed)
        }
        let page = try await reader.page(for: Self.bob, after: cursor, limit: 10)
        let gap = try #require(page.gap)
        #expect(gap.from < missed && missed <= gap.to)
      }
    }
  }

  @Test func whatIsLostIsForgottenAfterOneMoreRetention() {
    var limits = Limits()
    limits.retentionMilliseconds = 10_000
    let bounds = SweepBounds(nowMilliseconds: 1_795_238_998_540, limits)
    #expect(bounds.floor.unixMilliseconds == 1_795_238_988_540)
    #expect(bounds.forgotten.unixMilliseconds == 1_795_238_978_540)
  }

  /// The cursor of a reader who has been shown something.
  private func cursorOfBob(_ reader: FeedReader, _ store: RedisStore) async throws -> FeedCursor {
    let seen = try await send("seen", to: [Self.bob], by: store)
    // Ids of one millisecond are in the order of partitions.
    try await eventually { try await store.nowMilliseconds() > seen.unixMilliseconds }
    return try await reader.page(for: Self.bob, after: nil, limit: 10).cursor
  }

  private func tells(
    _ missed: MessageID, behind cursor: FeedCursor, _ reader: FeedReader
  ) async throws -> Bool {
    let page = try await reader.page(for: Self.bob, after: cursor, limit: 10)
    #expect(page.notifications.isEmpty)
    return page.gap.map { $0.from < missed && missed <= $0.to } ?? false
  }

  /// Sends to accounts by name, and has their indexes learn of it.
  private func send(
    _ name: String, to accounts: [AccountID], by store: RedisStore
  ) async throws -> MessageID {
    var content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
    content.toAccids = accounts
    let app = Actor(account: nil, isTrusted: true)
    let sends = try SendNotification.sends(content, by: app, generatedClientId: name)
    let done = try await OperationRunner(store: store, limits: Limits()).run(try #require(sends.first))
    try await relay(store)
    return try #require(done.commit?.ids.first)
  }

  private func relay(_ store: RedisStore) async throws {
    for partition in try await store.partitionsToRelay() { try await store.relayOutbox(of: partition) }
  }
}

extension MessageID {
  fileprivate func isOfOneMillisecond(with other: MessageID) -> Bool {
    unixMilliseconds == other.unixMilliseconds
  }
}

extension RedisStore {
  fileprivate func sweep(_ space: SpaceID, floor: MessageID, forgotten: MessageID) async throws {
    var call = layout.call(.sweepSpace, in: layout.partition(of: space))
    call.append(space.key)
    call.append(floor.streamForm)
    call.append(limits.entriesPerSpace)
    call.append(forgotten.streamForm)
    _ = try await checked([call], at: "test")
  }

  fileprivate func sweepIndex(of account: AccountID, floor: MessageID) async throws {
    var call = layout.call(.sweepIndex, in: layout.partition(of: account))
    call.append(account.text)
    call.append("0")
    call.append(floor.streamForm)
    call.append(MessageID.zero.streamForm)
    _ = try await checked([call], at: "test")
  }
}
