import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// A keyspace that was moved to more partitions says the same to everybody as one that was moved to as many: of two moves of
  /// the same data, whatever is done at both afterwards has the same outcome.
  @Suite struct Divisions {
    @Test(arguments: [(1, 4), (2, 32), (8, 16)], [UInt64(0), 1])
    func nobodyNoticesThatAKeyspaceIsDivided(partitions: (Int, Int), round: UInt64) async throws {
      let seed = TestEnvironment.seed &+ round
      try await withWorld(redis: .onTCP, settings: ["BELFRY_PARTITIONS": "\(partitions.0)"]) { world in
        var walk = DivisionWalk(seed: seed, comment: "BELFRY_SEED=\(seed) \(partitions)")
        try walk.fill(at: world[0])
        try await eventually { try world.redis.outboxItems() == 0 }
        try await withTwin(of: world.redis) { twin in
          try await withRedisServer(.onTCP) { same in
            try await withRedisServer(.onTCP) { more in
              let (from, to) = (try #require(world.redis.tcpURL), try #require(more.tcpURL))
              let divided = try await CommandRun(
                ["move", "--from", from, "--to", to, "--partitions", "\(partitions.1)"], in: world[0]
              ).end()
              #expect(
                divided.contains("  partitions       \(partitions.1), where there were \(partitions.0)"))
              #expect(divided.contains("  differing        0\n"), "\(divided)")
              let kept = try await CommandRun(
                ["move", "--from", try #require(twin.tcpURL), "--to", try #require(same.tcpURL)], in: world[0]
              ).end()
              #expect(kept.contains("  differing        0\n"), "\(kept)")
              let one = try await Broker.started(
                redisURL: same.url, options: ["BELFRY_PARTITIONS": "\(partitions.0)"])
              let other = try await Broker.started(
                redisURL: more.url, options: ["BELFRY_PARTITIONS": "\(partitions.1)"])
              walk.begin(one, other)
              for _ in 0..<120 { try walk.step() }
              try walk.checkAll()
              await one.remove()
              await other.remove()
            }
          }
        }
      }
    }

    /// Gives the body a copy of a Redis that nobody works on.
    private func withTwin(of redis: RedisServer, _ body: (RedisServer) async throws -> Void) async throws {
      try await withRedisServer(.onTCP) { twin in
        try twin.command("REPLICAOF", "127.0.0.1", "\(try #require(redis.port))")
        try await eventually {
          try twin.command("INFO", "replication").contains("master_link_status:up")
            && redis.command("WAIT", "1", "100") == "1"
        }
        try twin.command("REPLICAOF", "NO", "ONE")
        try await body(twin)
      }
    }
  }
}

extension RedisServer.Options {
  static var onTCP: RedisServer.Options {
    var options = RedisServer.Options()
    options.listensOnTCP = true
    return options
  }
}

/// What is done at random, first at one broker, then at two that should not differ. Bodies are unique, so they name what was
/// sent in both; ids are the same for what was sent before.
private struct DivisionWalk {
  private var random: SeededGenerator
  private let comment: String
  private let accounts = (0..<6).map { "account\($0)" }
  private var brokers: [Broker] = []
  private var servers: [String] = []
  private var group = ""
  private var count = 0
  /// By body the ids at each broker, and who sent it.
  private var sent: [(body: String, ids: [String], sender: String)] = []
  /// Cursors at each broker, and whose.
  private var cursors: [(account: String, texts: [String])] = []

  init(seed: UInt64, comment: String) {
    random = SeededGenerator(seed: seed)
    self.comment = comment
  }

  // MARK: Before

  mutating func fill(at broker: Broker) throws {
    brokers = [broker]
    let app = try Person.app(at: broker)
    for index in 0..<5 {
      let owner = try Person(accounts[index], at: broker)
      servers.append(try owner.createServer())
      try app.add(accounts.filter { _ in random.below(4) > 0 }, to: servers[index])
    }
    group = try #require(
      Person(accounts[0], at: broker).call("POST", "/v1/groups", ["name": "g", "style": "publicOpen"])[
        "groupId"])
    for name in accounts.dropFirst() {
      let answer = try Person(name, at: broker).call("POST", "/v1/groups/\(group)/applications", [:])
      try #require(answer.status < 300)
    }
    for _ in 0..<150 { try step() }
  }

  /// From now on everything is done at these two.
  mutating func begin(_ one: Broker, _ other: Broker) {
    brokers = [one, other]
    for index in sent.indices { sent[index].ids.append(sent[index].ids[0]) }
    for index in cursors.indices { cursors[index].texts.append(cursors[index].texts[0]) }
  }

  // MARK: A step

  mutating func step() throws {
    let account = accounts[random.below(accounts.count)]
    switch random.below(20) {
    case 0..<7: try send(from: account)
    case 7..<9: try markItems(of: account)
    case 9..<11: try markUpTo(of: account)
    case 11: try change()
    case 12: try joinOrLeave(account)
    case 13..<15: try takeCursor(of: account)
    case 15..<18: try goOn()
    case 18: try compareCounts(of: account)
    default: try compareFeeds(of: account)
    }
  }

  private mutating func send(from account: String) throws {
    count += 1
    let body = "body \(count)"
    var place: [String: Any] = ["serverId": servers[random.below(servers.count)]]
    switch random.below(5) {
    case 0: place = ["groupId": group]
    case 1: place = ["toAccids": [accounts[random.below(accounts.count)]]]
    case 2: place = ["toAccids": accounts.filter { _ in random.below(2) == 0 } + ["account0"]]
    default: break
    }
    place["messageClientId"] = body
    let answers = try both { try Person(account, at: $0).send(body, place) }
    same(answers.map(\.status), "send \(place)")
    let ids = answers.compactMap { $0["messageServerId"] }
    if ids.count == brokers.count, answers[0].status == 201 { sent.append((body, ids, account)) }
    // Ids are in the order of time to the millisecond.
    usleep(2_000)
  }

  private mutating func markItems(of account: String) throws {
    let some = (0..<(1 + random.below(4))).compactMap { _ in pick() }
    if some.isEmpty { return }
    try mark(account) { index in
      ["items": some.map { ["messageServerId": sent[$0].ids[index], "type": 100] as [String: Any] }]
    }
  }

  private mutating func markUpTo(of account: String) throws {
    guard let place = pick() else { return }
    try mark(account) { ["upTo": sent[place].ids[$0]] }
  }

  private func mark(_ account: String, _ body: (Int) -> [String: Any]) throws {
    let answers = try both { index, broker in
      try Person(account, at: broker).call("POST", "/v1/notifications/read", body(index))
    }
    same(answers.map { "\($0.status) \($0.object["read"] ?? "")" }, "mark of \(account): \(body(0))")
  }

  private mutating func change() throws {
    guard let place = pick() else { return }
    let isRecalled = random.below(2) == 0
    count += 1
    let body = "changed \(count)"
    let answers = try both { index, broker in
      try Person(sent[place].sender, at: broker).call(
        isRecalled ? "DELETE" : "PATCH", "/v1/notifications/\(sent[place].ids[index])",
        isRecalled ? nil : ["body": body])
    }
    same(answers.map(\.status), "change of \(sent[place].body)")
    usleep(2_000)
  }

  private mutating func joinOrLeave(_ account: String) throws {
    let (server, joins) = (servers[random.below(servers.count)], random.below(2) == 0)
    let answers = try both { broker in
      try Person.app(at: broker).call(
        joins ? "POST" : "DELETE", "/v1/servers/\(server)/members", ["accids": [account]])
    }
    same(answers.map(\.status), "member \(account) of \(server)")
    usleep(2_000)
  }

  // MARK: What is seen

  private mutating func takeCursor(of account: String) throws {
    let limit = 1 + random.below(6)
    let pages = try both { try Person(account, at: $0).call("GET", "/v1/notifications?limit=\(limit)") }
    // Of entries of one millisecond in two partitions, either may come first.
    cursors.append((account, pages.compactMap { $0["cursor"] }))
  }

  private mutating func goOn() throws {
    if cursors.isEmpty { return }
    let place = random.below(cursors.count)
    let (account, texts) = cursors[place]
    var next: [String] = []
    let seen = try both { index, broker -> [String] in
      var (cursor, all, ids) = (texts[index], [String](), [String]())
      while true {
        let page = try Person(account, at: broker).call("GET", "/v1/notifications?limit=3&after=\(cursor)")
        #expect(page.status == 200 && page.object["gap"] == nil, "\(comment): \(page)")
        cursor = page["cursor"] ?? cursor
        if page.notifications.isEmpty { break }
        all += page.notifications.map { words($0, index) }
        ids += page.notifications.compactMap { $0["messageServerId"] as? String }
      }
      next.append(cursor)
      #expect(Set(ids).count == ids.count && ids.count == all.count, "\(comment): each once")
      return all.sorted()
    }
    // A cursor from within a page of the first half is another one at each.
    if seen.count == 2, seen[0] != seen[1] {
      same(seen.map { $0.joined(separator: "\n") }, "from a cursor of \(account) on: \(texts)")
    }
    cursors[place].texts = next
  }

  private func compareFeeds(of account: String) throws {
    let feeds = try both { index, broker in
      try Person(account, at: broker).unread().map { words($0, index) }.sorted()
    }
    same(feeds.map { $0.joined(separator: "\n") }, "feed of \(account)")
  }

  private func compareCounts(of account: String) throws {
    let counts = try both { try Person(account, at: $0).call("GET", "/v1/notifications/counts") }
    try same(
      counts.map {
        String(
          decoding: try JSONSerialization.data(withJSONObject: $0.object, options: .sortedKeys), as: UTF8.self
        )
      },
      "counts of \(account)")
  }

  mutating func checkAll() throws {
    for account in accounts {
      try compareFeeds(of: account)
      try compareCounts(of: account)
      try compareStreams(of: account)
    }
    // What was sent before is the same when it is sent again.
    for each in sent.prefix(20) {
      let answers = try both {
        try Person(each.sender, at: $0).call("GET", "/v1/notifications/\(each.ids[0])/explain?account=x")
      }
      same(answers.map(\.status), "explained \(each.body)")
    }
  }

  private func compareStreams(of account: String) throws {
    guard let (_, texts) = cursors.last(where: { $0.account == account }) else { return }
    try #require(texts.count == brokers.count)
    let seen = try both { index, broker -> [String] in
      let stream = try Person(account, at: broker).stream(after: texts[index])
      let app = try Person.app(at: broker)
      let last = try app.call(
        "POST", "/v1/notifications",
        ["toAccids": [account], "type": 100, "body": "end", "fromAccount": account])
      #expect(last.status == 201, "\(last)")
      #expect(stream.wait(forBody: "end", seconds: 20), "\(comment)")
      return stream.cut().compactMap(\.body).sorted()
    }
    same(seen.map { $0.joined(separator: "\n") }, "stream of \(account)")
  }

  // MARK: Both

  private mutating func pick() -> Int? { sent.isEmpty ? nil : random.below(sent.count) }

  private func both<Value>(_ work: (Broker) throws -> Value) rethrows -> [Value] { try brokers.map(work) }
  private func both<Value>(_ work: (Int, Broker) throws -> Value) rethrows -> [Value] {
    try brokers.enumerated().map { try work($0, $1) }
  }

  /// What it says, and whether its id is the one that it was acknowledged with.
  private func words(_ notification: [String: Any], _ index: Int) -> String {
    let (body, id) = (notification["body"] as? String, notification["messageServerId"] as? String)
    let key = notification["messageClientId"] as? String
    let known = sent.first { $0.body == key }
    return
      "\(notification["type"] ?? "") \(body ?? "") \(key ?? "") \(known.map { $0.ids[index] == id } ?? true)"
  }

  private func same<Value: Equatable>(_ values: [Value], _ what: String) {
    if values.count == 2 { #expect(values[0] == values[1], "\(comment): \(what)") }
  }
}
