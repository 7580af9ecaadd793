import Foundation
import TestKit
import Testing

/// Random requests, first to one broker, then to two that should not differ. Bodies are unique, so a body
/// names the same notification at both. Only notifications from before have the same ids at both.
struct DivisionWalk {
  private var random: SeededGenerator
  private let comment: String
  private let accounts = (0..<6).map { "account\($0)" }
  private var brokers: [Broker] = []
  private var redis: [RedisServer] = []
  private let people = People()
  private var servers: [String] = []
  private var group = ""
  private var count = 0
  /// Each body, its ids at both brokers, and its sender.
  private var sent: [(body: String, ids: [String], sender: String)] = []
  /// Cursors at each broker, with their accounts.
  private var cursors: [(account: String, texts: [String])] = []

  init(seed: UInt64, comment: String) {
    random = SeededGenerator(seed: seed)
    self.comment = comment
  }

  // MARK: Before

  mutating func fill(at broker: Broker, on server: RedisServer) throws {
    (brokers, redis) = ([broker], [server])
    let app = try people.app(at: broker)
    for index in 0..<5 {
      let owner = try people[accounts[index], broker]
      servers.append(try owner.createServer())
      try app.add(accounts.filter { _ in random.below(4) > 0 }, to: servers[index])
    }
    group = try #require(
      people[accounts[0], broker].call("POST", "/v1/groups", ["name": "g", "style": "publicOpen"])[
        "groupId"])
    for name in accounts.dropFirst() {
      let answer = try people[name, broker].call("POST", "/v1/groups/\(group)/applications", [:])
      try #require(answer.status < 300)
    }
    try settle()
    for _ in 0..<150 { try step() }
  }

  /// From now on every request is made at these two.
  mutating func begin(_ one: (Broker, RedisServer), _ other: (Broker, RedisServer)) {
    (brokers, redis) = ([one.0, other.0], [one.1, other.1])
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
    let answers = try both { try people[account, $0].send(body, place) }
    same(answers.map(\.status), "send \(place)")
    let ids = answers.compactMap { $0["messageServerId"] }
    if ids.count == brokers.count, answers[0].status == 201 { sent.append((body, ids, account)) }
    try settle()
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
      try people[account, broker].call("POST", "/v1/notifications/read", body(index))
    }
    same(answers.map { "\($0.status) \($0.object["read"] ?? "")" }, "mark of \(account): \(body(0))")
    try settle()
  }

  private mutating func change() throws {
    guard let place = pick() else { return }
    let isRecalled = random.below(2) == 0
    count += 1
    let body = "changed \(count)"
    let answers = try both { index, broker in
      try people[sent[place].sender, broker].call(
        isRecalled ? "DELETE" : "PATCH", "/v1/notifications/\(sent[place].ids[index])",
        isRecalled ? nil : ["body": body])
    }
    same(answers.map(\.status), "change of \(sent[place].body)")
    try settle()
  }

  private mutating func joinOrLeave(_ account: String) throws {
    let (server, joins) = (servers[random.below(servers.count)], random.below(2) == 0)
    let answers = try both { broker in
      try people.app(at: broker).call(
        joins ? "POST" : "DELETE", "/v1/servers/\(server)/members", ["accids": [account]])
    }
    same(answers.map(\.status), "member \(account) of \(server)")
    try settle()
  }

  // MARK: Comparisons

  private mutating func takeCursor(of account: String) throws {
    let limit = 1 + random.below(6)
    let pages = try both { try people[account, $0].call("GET", "/v1/notifications?limit=\(limit)") }
    // If two partitions have entries of one millisecond, either may come first.
    cursors.append((account, pages.compactMap { $0["cursor"] }))
  }

  private mutating func goOn() throws {
    if cursors.isEmpty { return }
    let place = random.below(cursors.count)
    let (account, texts) = cursors[place]
    let limit = [3, 10, 50][random.below(3)]
    var next: [String] = []
    let seen = try both { index, broker -> [String] in
      var (cursor, all, ids) = (texts[index], [String](), [String]())
      while true {
        let page = try people[account, broker].call(
          "GET", "/v1/notifications?limit=\(limit)&after=\(cursor)")
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
    // A cursor from within a page of the first half is different at each.
    if seen.count == 2, seen[0] != seen[1] {
      same(seen.map { $0.joined(separator: "\n") }, "from a cursor of \(account) on: \(texts)")
    }
    cursors[place].texts = next
  }

  private func compareFeeds(of account: String) throws {
    let feeds = try both { index, broker in
      try people[account, broker].unread().map { words($0, index) }.sorted()
    }
    same(feeds.map { $0.joined(separator: "\n") }, "feed of \(account)")
  }

  private func compareCounts(of account: String) throws {
    let counts = try both { try people[account, $0].call("GET", "/v1/notifications/counts") }
    try same(
      counts.map {
        String(
          decoding: try JSONSerialization.data(withJSONObject: $0.object, options: .sortedKeys), as: UTF8.self
        )
      },
      "counts of \(account)")
  }

  func checkAll() async throws {
    for account in accounts {
      try compareFeeds(of: account)
      try compareCounts(of: account)
      try await compareStreams(of: account)
    }
    // A send from before the move counts as the same when it is repeated.
    for each in sent.prefix(20) {
      let answers = try both {
        try people[each.sender, $0].call("GET", "/v1/notifications/\(each.ids[0])/explain?account=x")
      }
      same(answers.map(\.status), "explained \(each.body)")
    }
  }

  /// Spaces have no order among each other: the last send need not be shown last.
  private func compareStreams(of account: String) async throws {
    guard let (_, texts) = cursors.last(where: { $0.account == account }) else { return }
    try #require(texts.count == brokers.count)
    let streams = try both { index, broker -> EventStream in
      let stream = try people[account, broker].stream(after: texts[index])
      let last = try people.app(at: broker).call(
        "POST", "/v1/notifications",
        ["toAccids": [account], "type": 100, "body": "end", "fromAccount": account])
      #expect(last.status == 201, "\(last)")
      #expect(stream.wait(forBody: "end"), "\(comment)")
      return stream
    }
    func seen() -> [String] { streams.map { $0.all.compactMap(\.body).sorted().joined(separator: "\n") } }
    try? await eventually { Set(seen()).count == 1 }
    for stream in streams { stream.cut() }
    same(seen(), "stream of \(account)")
  }

  // MARK: Both

  /// Waits until other partitions have learned of all changes, which are written after the answer. It also
  /// waits until the next send has an id of a later millisecond: within one, ids of two partitions have no
  /// order of time.
  private func settle() throws {
    let deadline = Date(timeIntervalSinceNow: 60)
    while try redis.contains(where: { try $0.outboxItems() > 0 }) {
      try #require(Date() < deadline, "\(comment): the outboxes are not emptied")
      usleep(500)
    }
    usleep(2_000)
  }

  private mutating func pick() -> Int? { sent.isEmpty ? nil : random.below(sent.count) }

  private func both<Value>(_ work: (Broker) throws -> Value) rethrows -> [Value] { try brokers.map(work) }
  private func both<Value>(_ work: (Int, Broker) throws -> Value) rethrows -> [Value] {
    try brokers.enumerated().map { try work($0, $1) }
  }

  /// The words of a notification, and if its id is the acknowledged one.
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

/// Those who ask, each over one connection to a broker.
private final class People {
  private var known: [String: Person] = [:]

  subscript(name: String, broker: Broker) -> Person {
    get throws { try person("\(name) \(broker.port)") { try Person(name, at: broker) } }
  }

  func app(at broker: Broker) throws -> Person {
    try person("app \(broker.port)") { try Person.app(at: broker) }
  }

  private func person(_ key: String, _ make: () throws -> Person) rethrows -> Person {
    if let person = known[key] { return person }
    let person = try make()
    known[key] = person
    return person
  }
}
