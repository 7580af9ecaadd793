import BelfryModel
import BelfryOutbound
import Foundation
import TestKit
import Testing

@testable import BelfryServer

/// Random walks over changes to a notification's receivers, while it is pushed and copied. After each round,
/// the pushes match the feeds, the last number of each device is its count, and each notification was copied
/// once, in order. `BELFRY_SEED` repeats one walk.
@Suite struct OutwardWalkTests {
  @Test(
    arguments: TestEnvironment.runs(
      of: "OutwardWalkTests/whatReachesOutIsWhatFeedsShow",
      count: TestEnvironment.number("BELFRY_ROUNDS") ?? 4))
  func whatReachesOutIsWhatFeedsShow(run: SeededRun) async throws {
    let (seed, rounds) = (run.seed, run.count)
    try await withBroker(
      loops: 2,
      configure: {
        $0.allowedNetworks = try [#require(IPNetwork("127.0.0.0/8"))]
        $0.push.allowedNetworks = $0.allowedNetworks
        $0.push.delayMilliseconds = 1_000
      }
    ) { broker async throws in
      var walk = try OutwardWalk(broker, seed: seed)
      var (round, inTime) = (0, 0)
      // A round during which the machine stalls tests less, so another one is played in its place.
      while inTime < rounds, round < rounds + 20 {
        if try await walk.play(isQuiet: round.isMultiple(of: 2), "BELFRY_SEED=\(seed), round \(round)") {
          inTime += 1
        }
        round += 1
      }
      #expect(inTime == rounds, "in \(round - inTime) rounds this machine was too slow to tell")
      try await walk.checkCopies("BELFRY_SEED=\(seed)")
    }
  }
}

/// The notifications and their receivers, and the requests that arrived outside.
private struct OutwardWalk {
  private struct Sent {
    var id: String
    var space: String
    /// The accounts that it was for when it was sent.
    var audience: Set<String>
    /// True if they were named.
    var isNamed: Bool
    var isPushed: Bool
  }

  private let broker: TestBroker
  private let gateway: ScriptedServer
  /// The first one receives everything, the second one only the first server.
  private let receivers: [ScriptedServer]
  private let accounts = (0..<6).map { "account-\($0)" }
  private let servers: [String]
  private var members: [String: Set<String>]
  private var random: SeededGenerator
  private var sent: [Sent] = []
  private var recalled: Set<String> = []
  /// The accounts that want to receive nothing.
  private var deaf: Set<String> = []
  /// The number of requests that the gateway had before the round.
  private var seen = 0
  private var told: [String: Int] = [:]

  private var app: String { get throws { try broker.token("app", .app) } }
  /// The last one has no device.
  private var pushed: ArraySlice<String> { accounts.dropLast() }

  init(_ broker: TestBroker, seed: UInt64) throws {
    (self.broker, random) = (broker, SeededGenerator(seed: seed))
    gateway = try ScriptedServer { _, _ in [.kept(200, #"{"rejected":[]}"#), .next] }
    receivers = try (0..<2).map { _ in try ScriptedServer { _, _ in [.kept(200), .next] } }
    let people = accounts
    servers = try (0..<2).map { _ in try broker.makeServer(owner: people[0], members: Array(people[1...3])) }
    members = Dictionary(uniqueKeysWithValues: servers.map { ($0, Set(people[0...3])) })
    for account in pushed {
      let answer = try broker.ask(
        "PUT", "/v1/account/pushers/phone", as: try broker.token(account),
        #"{"kind":"matrix","url":"http://127.0.0.1:\#(gateway.port)","appId":"app","pushkey":"\#(account)"}"#)
      try #require(answer.status == 200, "\(answer)")
    }
    for (receiver, more) in zip(receivers, ["", #","spaces":["server:\#(servers[0])"]"#]) {
      let made = try broker.ask(
        "POST", "/v1/webhooks", as: try app, #"{"url":"http://127.0.0.1:\#(receiver.port)/"\#(more)}"#)
      try #require(made.status == 201, "\(made)")
    }
  }

  // MARK: A round

  /// - Parameter isQuiet: true for changes of counts without pushes; in the end, everybody marks something.
  /// - Returns: true if everything was changed before the first push was due, and checked before anything
  ///   expired after it.
  mutating func play(isQuiet: Bool, _ place: String) async throws -> Bool {
    let began = ContinuousClock.now
    let first = sent.count
    for _ in 0..<(4 + random.below(5)) { try step(isQuiet: isQuiet) }
    // A round that took longer is played again.
    var isInTime = ContinuousClock.now - began < .milliseconds(850)  // own pace: played again
    try await broker.waitUntilNothingIsToBePushed()
    let wanted = try expectation(sent[first...])
    isInTime = isInTime && ContinuousClock.now - began < .milliseconds(2_900)  // own pace: again
    if isQuiet { for account in accounts { try mark(account) } }
    // If nothing is left to correct, nothing is told until the next push. The same holds if a preference hides all, so
    // that there was nothing to mark.
    try await eventually("devices were told other numbers than the counts, \(place)") {
      noteTold()
      return try pushed.allSatisfy { account in
        guard let number = told[account], number > 0, !deaf.contains(account) else { return true }
        return number == (try count(account))
      }
    }
    let pushes = arrived()
    if isInTime { #expect(pushes.sorted() == wanted.sorted(), "\(place)") }
    #expect(Set(pushes).count == pushes.count, "twice: \(place)")
    let audience = Set(sent.flatMap { one in one.isPushed ? one.audience.map { "\(one.id) \($0)" } : [] })
    #expect(Set(pushes).isSubset(of: audience), "\(place)")
    seen = gateway.requests.count
    return isInTime
  }

  private mutating func step(isQuiet: Bool) throws {
    switch random.below(isQuiet ? 10 : 7) {
    case 0...3: try send(isPushed: !isQuiet || !random.oneIn(3))
    case 4, 5: try mark(random.pick(accounts))
    case 6: try recall()
    case 7, 8: try changeMember()
    default:
      let wish = random.oneIn(2) ? #"{"level":"none"}"# : ""
      let account = random.pick(accounts)
      if wish.isEmpty { deaf.remove(account) } else { deaf.insert(account) }
      let answer = try broker.ask(
        "PUT", "/v1/account/preferences", as: try broker.token(account),
        #"{"preferences":[\#(wish)]}"#)
      #expect(answer.status == 200, "\(answer)")
    }
  }

  private mutating func send(isPushed: Bool) throws {
    let server = random.oneIn(3) ? nil : random.pick(servers)
    let named = Set(random.some(of: accounts) + [random.pick(accounts)])
    let isNamed = server == nil || random.oneIn(3)
    var fields = [server.map { #""serverId":"\#($0)""# }].compactMap { $0 }
    if isNamed {
      fields.append(#""toAccids":[\#(named.sorted().map { "\"\($0)\"" }.joined(separator: ","))]"#)
    }
    if random.oneIn(5) {
      let time = Int64(Date().timeIntervalSince1970 * 1_000) + (random.oneIn(2) ? 500 : 3_000)
      fields.append(#""expireAt":\#(time)"#)
    }
    let answer = try broker.ask(
      "POST", "/v1/notifications", as: try app,
      "{\(fields.joined(separator: ",")),\"body\":\"hello\",\"setting\":{\"pushEnable\":\(isPushed)}}")
    // A server takes none for those who are not in it.
    guard answer.status == 201, let id = answer.json["messageServerId"]?.text else { return }
    let inside = server.map { members[$0, default: []] }
    let audience = isNamed ? named.intersection(inside ?? named) : inside ?? []
    sent.append(
      Sent(
        id: id, space: server.map { "server:\($0)" } ?? "", audience: audience, isNamed: isNamed,
        isPushed: isPushed))
  }

  private mutating func recall() throws {
    guard !sent.isEmpty else { return }
    let id = random.oneIn(2) ? sent[sent.count - 1].id : random.pick(sent).id
    let answer = try broker.ask("DELETE", "/v1/notifications/\(id)", as: try app)
    #expect(answer.status == 204 || answer.status == 404, "\(answer)")
    if answer.status == 204 { recalled.insert(id) }
  }

  private mutating func changeMember() throws {
    let (server, account) = (random.pick(servers), accounts[1 + random.below(accounts.count - 1)])
    let path = "/v1/servers/\(server)/members"
    if members[server, default: []].contains(account) {
      _ = try broker.ask("DELETE", "\(path)/\(account)", as: try app)
      members[server, default: []].remove(account)
    } else {
      _ = try broker.ask("POST", path, as: try app, #"{"accids":["\#(account)"]}"#)
      members[server, default: []].insert(account)
    }
  }

  private mutating func mark(_ account: String) throws {
    let ids = try feed(account)
    guard !ids.isEmpty else { return }
    _ = try broker.ask(
      "POST", "/v1/notifications/read", as: try broker.token(account),
      #"{"items":[{"messageServerId":"\#(random.pick(ids))"}]}"#)
  }

  // MARK: Expectations

  private func feed(_ account: String) throws -> [String] {
    let page = try broker.ask("GET", "/v1/notifications?limit=500", as: try broker.token(account))
    try #require(page.status == 200, "\(page)")
    return page.json["notifications"]?.elements.compactMap { $0["messageServerId"]?.text } ?? []
  }

  private func count(_ account: String) throws -> Int {
    let counts = try broker.ask("GET", "/v1/notifications/counts", as: try broker.token(account))
    let unread = try #require(counts.json["unread"]?.number, "\(counts)")
    #expect(try feed(account).count == unread)
    return Int(unread)
  }

  private func expectation(_ sent: ArraySlice<Sent>) throws -> [String] {
    try pushed.flatMap { account in
      let shown = Set(try feed(account))
      // An account that has left since finds the notification in its feed. It is not pushed to, unless it was
      // named.
      let mine = sent.filter { one in
        one.isPushed && shown.contains(one.id) && (one.isNamed || isMember(account, of: one.space))
      }
      return mine.map { "\($0.id) \(account)" }
    }
  }

  private func isMember(_ account: String, of space: String) -> Bool {
    members[String(space.dropFirst("server:".count)), default: []].contains(account)
  }

  private func notification(_ request: String) -> JSONValue? {
    (try? JSONParser.value(of: Array(request.utf8)))?["notification"]
  }

  private func arrived() -> [String] {
    gateway.requests.dropFirst(seen).compactMap { request in
      guard let one = notification(request.body), let id = one["event_id"]?.text else { return nil }
      return "\(id) \(one["devices"]?[0]?["pushkey"]?.text ?? "")"
    }
  }

  private mutating func noteTold() {
    for request in gateway.requests.dropFirst(seen) {
      guard let one = notification(request.body), let key = one["devices"]?[0]?["pushkey"]?.text,
        let unread = one["counts"]?["unread"]?.number
      else { continue }
      told[key] = Int(unread)
    }
  }

  // MARK: Copies

  func checkCopies(_ place: String) async throws {
    for (number, receiver) in receivers.enumerated() {
      let mine = Set(sent.filter { number == 0 || $0.space == "server:\(servers[0])" }.map(\.id))
      var copies: [(type: String, space: String, id: String)] = []
      for _ in 0..<1_200 {
        copies = receiver.requests.compactMap { request in
          let value = try? JSONParser.value(of: Array(request.body.utf8))
          guard let type = value?["type"]?.text, let space = value?["data"]?["space"]?.text,
            let id = value?["data"]?["notification"]?["messageServerId"]?.text
          else { return nil }
          return (type, space, id)
        }
        if mine.isSubset(of: copies.map(\.id)) { break }
        try await Task.sleep(for: .milliseconds(50))
      }
      if number == 1 { #expect(Set(copies.map(\.space)) == ["server:\(servers[0])"], "\(place)") }
      for (space, some) in Dictionary(grouping: copies.filter { $0.type == "notification.sent" }, by: \.space)
      {
        let ids = some.compactMap { UInt64($0.id) }
        #expect(ids == ids.sorted() && Set(ids).count == ids.count, "\(space), \(place)")
      }
      // A notification that was recalled before it was copied is copied only as recalled.
      let (begun, over) = (
        Set(copies.filter { $0.type == "notification.sent" }.map(\.id)),
        Set(copies.filter { $0.type == "notification.retracted" }.map(\.id))
      )
      #expect(mine.subtracting(recalled).isSubset(of: begun), "\(place)")
      #expect(over == recalled.intersection(mine), "\(place)")
    }
  }
}
