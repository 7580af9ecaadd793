import BelfryFeed
import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryStore
import ModelSamples
import TestKit
import Testing

/// Requests that wait for something new.
@Suite struct WaitingPageTests {
  /// A broadcast of a server above the threshold, whose members wait and have not subscribed: none of them reads the store
  /// for it. Each is answered with what is for it.
  @Test func whatIsForOthersIsNotReadFromTheStore() async throws {
    let count = 300
    try await withStage { stage in
      let polls = try await stage.beginToWait(count)
      let before = stage.store.questions
      for _ in 0..<3 { try await stage.send(to: []) }
      try await stage.arrive()
      #expect(stage.store.questions == before)
      #expect(polls.allSatisfy { $0.page == nil })

      for (number, poll) in polls.enumerated() {
        let id = try await stage.send(to: [poll.account])
        if number % 2 == 0 { try await stage.send(to: []) }
        try await eventually("nobody is answered") {
          stage.live.arrive(atMost: .max)
          return poll.page != nil
        }
        #expect(try poll.page?.get().notifications.map(\.id) == [id])
      }
    }
  }

  /// Something arrives while the page is read, at each moment of the reading.
  @Test func whatArrivesWhileThePageIsReadIsNotMissed() async throws {
    try await withStage { stage in
      for moment in 0..<60 {
        let poll = try await stage.poll("bob\(moment)")
        for _ in 0..<moment { await stage.loop.letOthersRun() }
        let id = try await stage.send(to: [poll.account])
        try await eventually("what came at moment \(moment) is missed") {
          stage.live.arrive(atMost: .max)
          return poll.page != nil
        }
        #expect(try poll.page?.get().notifications.map(\.id) == [id])
      }
    }
  }

  private func withStage(_ body: @escaping @Sendable (Stage) async throws -> Void) async throws {
    try await withLoop { loop, scope in
      let stage = try await Stage(loop, scope)
      defer { for poll in stage.polls { poll.wait.end() } }
      try await body(stage)
    }
  }
}

private final class Poll {
  let account: AccountID
  let wait = FeedWait(.seconds(3_600))
  var page: Result<FeedPage, Refusal>?

  init(_ account: AccountID) { self.account = account }
}

/// A server with few enough members, or too many.
private final class Stage {
  let store: SlowStore
  let live: SlowLiveFeed
  private(set) var polls: [Poll] = []
  let loop: EventLoop
  private let scope: LoopScope
  private let memory: MemoryStore
  private let hub: Hub
  private let limits: Limits
  private let server: EntityID = 14
  private var sends = 0
  private let app = Actor(account: nil, isTrusted: true)

  init(_ loop: EventLoop, _ scope: LoopScope) async throws {
    (self.loop, self.scope) = (loop, scope)
    var limits = Limits()
    limits.subscriptionThreshold = 2
    self.limits = limits
    memory = MemoryStore(limits: limits)
    store = SlowStore(memory, Chance(seed: 1), on: loop)
    live = SlowLiveFeed(memory, on: loop)
    hub = Hub(loop: loop, scope: scope, store: store, live: live, limits: limits)
    let owner: AccountID = "owner"
    _ = try await OperationRunner(store: memory, limits: limits).run(
      CreateServer(id: server, defaultChannel: 1_000, owner: owner, actor: Actor(account: owner), name: "s"))
    try await add(["x", "y", "z"])
  }

  /// Members who have seen everything so far and wait.
  func beginToWait(_ count: Int) async throws -> [Poll] {
    let accounts = (0..<count).compactMap { AccountID("m\($0)") }
    try await add(accounts)
    var polls: [Poll] = []
    for account in accounts { polls.append(try await begin(account)) }
    try await settle()
    return polls
  }

  /// One who is about to wait.
  func poll(_ name: String) async throws -> Poll {
    let account = try #require(AccountID(name))
    try await add([account])
    return try await begin(account)
  }

  private func begin(_ account: AccountID) async throws -> Poll {
    let poll = Poll(account)
    polls.append(poll)
    let cursor = try await hub.feed.page(for: account, after: nil, limit: 500).cursor
    scope.start { [hub] in
      do throws(Refusal) {
        poll.page = .success(try await hub.page(for: account, after: cursor, limit: 10, wait: poll.wait))
      } catch {
        poll.page = .failure(error)
      }
    }
    return poll
  }

  private func add(_ accounts: [AccountID]) async throws {
    _ = try await OperationRunner(store: memory, limits: limits).run(
      AddMembers(server, actor: app, accounts: accounts, requestId: "r"))
    for partition in memory.partitionsToRelay() { memory.relayOutbox(of: partition) }
    live.arrive(atMost: .max)
  }

  /// To the server, or to accounts there.
  @discardableResult
  func send(to accounts: [AccountID]) async throws -> MessageID {
    sends += 1
    var content = NotificationContent(type: Catalogue.custom.code, toType: .server)
    content.serverId = server
    if !accounts.isEmpty { content.toAccids = accounts }
    let sends = try SendNotification.sends(content, by: app, generatedClientId: "c\(sends)")
    let done = try await OperationRunner(store: memory, limits: limits).run(try #require(sends.first))
    return try #require(done.commit?.ids.first)
  }

  func arrive() async throws {
    live.arrive(atMost: .max)
    try await settle()
  }

  /// Until nobody asks the store for anything any more.
  private func settle() async throws {
    var (last, quiet) = (-1, 0)
    while quiet < 200 {
      try await loop.sleep(for: .zero)
      quiet = store.questions == last ? quiet + 1 : 0
      last = store.questions
    }
  }
}
