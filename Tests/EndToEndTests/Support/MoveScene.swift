import Foundation
import TestKit
import Testing

/// Runs the executable; gives how it ended, and what it printed.
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

  /// - Returns: what it printed.
  @discardableResult
  func end() async throws -> String {
    guard await process.hasEnded(within: .seconds(90)) else {
      process.signal(SIGKILL)
      throw Wire.Failure(description: "it does not end: \(text)")
    }
    return text
  }
}

/// Accounts in servers, a group and a room, who have read some, subscribed, and hold tickets; and what they must find again
/// wherever the keyspace is.
final class MoveScene {
  let servers: [String]
  let group: String
  let room: String
  let ticket: String
  let webhook: String
  private(set) var first: [String: String] = [:]
  /// What was acknowledged to alice, by what she sent it as.
  private(set) var sent: [(key: String, id: String, place: [String: String])] = []
  let accounts = ["bob", "carol"]
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
    for (index, server) in servers.enumerated() {
      first[server] = try alice.mustSend("first \(index)", ["serverId": server])
    }
    try alice.mustSend("to bob", ["toAccids": ["bob"]])
    try Self.mark("bob", ["items": [["messageServerId": first[servers[0]] ?? "", "type": 100]]], at: broker)
    try Self.mark("carol", ["upTo": first[servers[2]] ?? ""], at: broker)
    ticket = try #require(
      Person("bob", at: broker).call("POST", "/v1/notifications/stream/tickets")["ticket"])
  }

  private static func mark(_ name: String, _ body: [String: Any], at broker: Broker) throws {
    let marked = try Person(name, at: broker).call("POST", "/v1/notifications/read", body)
    try #require(marked.status == 200, "\(marked)")
  }

  /// Sends on while the work goes on, over two threads; what fails is sent again in the end by whoever wants to.
  /// - Returns: what was not acknowledged, with its place.
  func whileSending(at broker: Broker, _ work: () async throws -> Void) async throws -> [(
    key: String, place: [String: String]
  )] {
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
    while acknowledged.values.count < 60 { try await Task.sleep(for: .milliseconds(5)) }
    do {
      try await work()
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

  /// All that was acknowledged is unread once; what was read is not; what was not acknowledged is there once or not at all.
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

  /// Those with a later id than the one up to which she marked. Of two that were sent one after the other within a
  /// millisecond, in two partitions, the first may have the later id.
  private var unmarkedByCarol: [String] {
    let ids = servers.map { first[$0].flatMap { Int64($0) } ?? 0 }
    return servers.indices.filter { ids[$0] > ids[2] }.map { "first \($0)" }
  }

  /// Sent again with the same key, it is the same; and what was refused is sent now, or was done.
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
