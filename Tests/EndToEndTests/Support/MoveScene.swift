import BelfryModel
import Foundation
import TestKit
import Testing

/// Runs the executable, and returns its end and its output.
struct CommandRun {
  let process: ChildProcess
  private let output: String

  init(_ words: [String], in broker: Broker, environment: [String: String] = [:]) throws {
    output = broker.folder + "/command-\(UUID().uuidString).log"
    process = try ChildProcess(
      [Broker.executable] + words,
      environment: ["PATH": TestEnvironment.path, "TZ": "UTC"].merging(environment) { $1 },
      output: output, folder: broker.folder + "/none")
  }

  var text: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }

  /// - Returns: the output.
  @discardableResult
  func end() async throws -> String {
    guard await process.hasEnded(within: .seconds(90)) else {
      process.signal(SIGKILL)
      throw Wire.Failure(description: "it does not end: \(text)")
    }
    return text
  }
}

/// Accounts in servers, a group and a room, with marks, subscriptions and tickets. The checks look for them
/// at each place of the keyspace.
final class MoveScene {
  let servers: [String]
  let group: String
  let room: String
  let ticket: String
  let webhook: String
  private(set) var first: [String: String] = [:]
  /// The sends of alice that were acknowledged, by their keys.
  private(set) var sent: [(key: String, id: String, place: [String: String])] = []
  let accounts = ["bob", "carol"]
  /// The number of servers whose first notification carol has read.
  private static let markedCount = 3
  private var rounds = 0

  init(at broker: Broker) throws {
    let (alice, app) = (try Person("alice", at: broker), try Person.app(at: broker))
    servers = try (0..<6).map { _ in try alice.createServer() }
    for server in servers { try app.add(accounts, to: server) }
    // More than fit a small hash.
    try app.add((0..<700).map { "member\($0)" }, to: servers[0])
    group = try #require(
      alice.call("POST", "/v1/groups", ["name": "g", "style": "publicOpen"])["groupId"])
    for name in accounts {
      try #require(
        try Person(name, at: broker).call("POST", "/v1/groups/\(group)/applications", [:]).status < 300)
    }
    let made = try alice.call("POST", "/v1/rooms", ["subject": "Bells"])
    room = try #require(made["roomId"] ?? made["id"], "\(made)")
    try #require(
      try Person("bob", at: broker).call("PUT", "/v1/servers/\(servers[1])/subscription").status == 204)
    let hook = try app.call("POST", "/v1/webhooks", ["url": "https://example.com/", "types": [100]])
    webhook = try #require(hook["webhookId"], "\(hook)")
    ticket = try #require(
      Person("bob", at: broker).call("POST", "/v1/notifications/stream/tickets")["ticket"])
    let early = try sendFirst(0..<Self.markedCount, by: alice)
    // Within a millisecond the order of ids depends on their partitions, not on the order of sending. A mark
    // up to the largest of these ids covers exactly these only if all others are of a later millisecond.
    let last = try #require(early.max())
    while Date().timeIntervalSince1970 * 1_000 < Double(last.unixMilliseconds + 1) { usleep(500) }
    let late = try sendFirst(Self.markedCount..<servers.count, by: alice)
    try #require(late.allSatisfy { $0 > last }, "\(early) \(late)")
    try alice.mustSend("to bob", ["toAccids": ["bob"]])
    try Self.mark("bob", ["items": [["messageServerId": first[servers[0]] ?? "", "type": 100]]], at: broker)
    try Self.mark("carol", ["upTo": last.text], at: broker)
  }

  /// One to each of these servers.
  private func sendFirst(_ indices: Range<Int>, by alice: Person) throws -> [MessageID] {
    try indices.map { index in
      let id = try alice.mustSend("first \(index)", ["serverId": servers[index]])
      first[servers[index]] = id
      return try #require(MessageID(id))
    }
  }

  private static func mark(_ name: String, _ body: [String: Any], at broker: Broker) throws {
    let marked = try Person(name, at: broker).call("POST", "/v1/notifications/read", body)
    try #require(marked.status == 200, "\(marked)")
  }

  /// Sends from two threads while the work goes on. Failed sends can be repeated in the end.
  /// - Parameter untilRefused: true if sending goes on after the work until a send is refused.
  /// - Returns: the sends that were not acknowledged, with their places.
  func whileSending(
    at broker: Broker, untilRefused: Bool = false, _ work: () async throws -> Void
  ) async throws -> [(key: String, place: [String: String])] {
    let isOver = Flag()
    let acknowledged = Box<(key: String, id: String, place: [String: String])>()
    let refused = Box<(key: String, place: [String: String])>()
    let statuses = Box<Int>()
    let threads = DispatchGroup()
    let (servers, group, round) = (servers, group, rounds)
    rounds += 1
    for thread in 0..<2 {
      threads.enter()
      Thread.detachNewThread {
        defer { threads.leave() }
        guard let alice = try? Person("alice", at: broker) else { return }
        var count = 0
        while !isOver.isSet {
          let key = "live \(round).\(thread).\(count)"
          let place =
            count.isMultiple(of: 5) ? ["groupId": group] : ["serverId": servers[count % servers.count]]
          let fields: [String: Any] = place.merging(["messageClientId": key]) { $1 }
          if let answer = try? alice.send(key, fields) {
            statuses.add(answer.status)
            if let id = answer["messageServerId"], answer.status < 300 {
              acknowledged.add((key, id, place))
            } else {
              refused.add((key, place))
              usleep(5_000)
            }
          }
          count += 1
        }
      }
    }
    do {
      try await eventually("too few sends are acknowledged") { acknowledged.values.count >= 60 }
      try await work()
      if untilRefused { try await eventually("nothing is refused") { !refused.values.isEmpty } }
    } catch {
      isOver.set()
      threads.wait()
      throw error
    }
    isOver.set()
    threads.wait()
    #expect(Set(statuses.values).isSubset(of: [201, 503]), "\(Set(statuses.values))")
    sent += acknowledged.values
    return refused.values
  }

  /// All acknowledged notifications are unread once, and read ones are not. Those that were not acknowledged
  /// exist once or not at all.
  func check(at broker: Broker, refused: [(key: String, place: [String: String])] = []) throws {
    for name in accounts {
      let person = try Person(name, at: broker)
      let bodies = try person.unreadBodies()
      let live = bodies.filter { $0.hasPrefix("live") }
      #expect(Set(live).count == live.count, "\(name): each once")
      let missing = Set(sent.map(\.key)).subtracting(live)
      #expect(missing.isEmpty, "\(name): \(missing.sorted().prefix(5))")
      let extra = Set(live).subtracting(sent.map(\.key)).subtracting(refused.map(\.key))
      #expect(extra.isEmpty, "\(name): \(extra.sorted().prefix(5))")
      let early = bodies.filter { $0.hasPrefix("first") }.sorted()
      #expect(early == (name == "bob" ? unmarkedByBob : unmarkedByCarol), "\(name)")
      #expect(bodies.contains("to bob") == (name == "bob"))
    }
    let app = try Person.app(at: broker)
    #expect(try app.call("GET", "/v1/webhooks/\(webhook)").status == 200)
    let members = try app.call("GET", "/v1/servers/\(servers[0])")
    #expect(members.status == 200, "\(members)")
  }

  private var unmarkedByBob: [String] { (1..<servers.count).map { "first \($0)" } }

  private var unmarkedByCarol: [String] { (Self.markedCount..<servers.count).map { "first \($0)" } }

  /// Repeated sends with the same key are the same sends. Refused sends are sent now, or had been done.
  func checkDedupe(at broker: Broker, refused: [(key: String, place: [String: String])]) throws {
    let alice = try Person("alice", at: broker)
    for each in sent.suffix(40) + sent.prefix(10) {
      let again = try alice.send(each.key, each.place.merging(["messageClientId": each.key]) { $1 })
      #expect(again.isDuplicate && again["messageServerId"] == each.id, "\(again)")
    }
    for each in refused.prefix(20) {
      let answer = try alice.send(each.key, each.place.merging(["messageClientId": each.key]) { $1 })
      #expect(answer.status == 201 || answer.isDuplicate, "\(answer)")
      sent.append((each.key, try #require(answer["messageServerId"]), each.place))
    }
  }
}
