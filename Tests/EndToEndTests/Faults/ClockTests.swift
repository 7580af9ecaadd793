import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// Redis's clock steps while people read, mark, join and write to each other: nothing is lost, nothing born read, and
  /// nothing is shown twice.
  @Suite struct Clock {
    private static let steps: [Int64] = [600, -600, 3_600, -3_600, -600, 600]

    @Test func stepsInBothDirectionsLoseNothing() async throws {
      let seed = TestEnvironment.seed
      try await play { scene in
        var random = SeededGenerator(seed: seed)
        for round in 0..<60 {
          if random.below(3) == 0 {
            let change = Self.steps[random.below(Self.steps.count)]
            try scene.clock.step(bySeconds: change - Int64(random.below(60)))
          }
          switch random.below(8) {
          case 0: try scene.markSome(&random)
          case 1: try scene.markEverything(&random)
          case 2: try scene.join()
          case 3: try scene.send("direct message \(round)", ["toAccids": ["alice"]])
          default:
            let server = scene.servers[random.below(scene.servers.count)]
            try scene.send("round \(round)", ["serverId": server])
          }
          if random.below(5) == 0 { try scene.takePage() }
        }
        try scene.check("BELFRY_SEED=\(seed)")
      }
    }

    /// A broker stands still while the others go on and the clock moves. Afterwards it shows the
    /// notifications that wait in its sockets.
    @Test func aBrokerThatStandsStillShowsWhatWaitedForIt() async throws {
      try await play { scene in
        let stream = try scene.alice.stream(at: scene.world[1])
        try scene.send("before", ["serverId": scene.servers[0]])
        #expect(stream.wait(forBody: "before"))
        for change: Int64 in [120, -240, 120] {
          scene.world[1].signal(SIGSTOP)
          for index in 0..<20 {
            if index == 10 { try scene.clock.step(bySeconds: change) }
            try scene.send("\(change) \(index)", ["serverId": scene.servers[index % scene.servers.count]])
          }
          try scene.markOne()
          scene.world[1].signal(SIGCONT)
        }
        try scene.send("end", ["serverId": scene.servers[0]])
        #expect(
          stream.wait { events in
            Set(scene.sent.subtracting(scene.read)).isSubset(of: events.compactMap(\.messageServerId))
          })
        let ids = stream.notifications.compactMap(\.messageServerId)
        #expect(ids.count == Set(ids).count, "shown twice")
        try scene.check("after standing still")
      }
    }

    private func play(_ body: (Scene) async throws -> Void) async throws {
      let clock = try await ShiftedClock()
      var options = RedisServer.Options()
      options.clock = clock
      try await withWorld(brokers: 2, redis: options) { world in try await body(try Scene(world, clock)) }
    }
  }
}

/// Alice in some servers, with a stream and pages that each continue from their cursors, and the
/// notifications that she must get.
private final class Scene {
  let world: World
  let clock: ShiftedClock
  let owner: Person
  let alice: Person
  private let app: Person
  private(set) var servers: [String] = []
  private(set) var sent: Set<String> = []
  /// The marked notifications, marked one by one or all at once.
  private(set) var read: Set<String> = []
  private var readOneByOne: Set<String> = []
  private let stream: EventStream
  private var cursor: String?
  private var paged: [String] = []

  init(_ world: World, _ clock: ShiftedClock) throws {
    (self.world, self.clock) = (world, clock)
    owner = try Person("owner", at: world[0])
    alice = try Person("alice", at: world[0])
    app = try Person.app(at: world[0])
    stream = try alice.stream(at: world[1])
    for _ in 0..<4 { try join() }
  }

  func join() throws {
    let server = try owner.createServer()
    try app.add(["alice"], to: server)
    servers.append(server)
  }

  func send(_ body: String, _ fields: [String: Any]) throws { sent.insert(try owner.mustSend(body, fields)) }

  func markOne() throws {
    guard let one = sent.subtracting(read).min() else { return }
    let items = ["items": [["messageServerId": one, "type": 100]]]
    #expect(try alice.call("POST", "/v1/notifications/read", items)["read"] == "1")
    read.insert(one)
  }

  func markSome(_ random: inout SeededGenerator) throws {
    let unread = sent.subtracting(read).sorted()
    guard !unread.isEmpty else { return }
    let some = Set((0..<3).map { _ in unread[random.below(unread.count)] })
    let items = ["items": some.map { ["messageServerId": $0, "type": 100] as [String: Any] }]
    #expect(try alice.call("POST", "/v1/notifications/read", items)["read"] == "\(some.count)")
    read.formUnion(some)
    readOneByOne.formUnion(some)
  }

  /// Marks up to one of the present notifications, or up to the largest id. In that case no later send is
  /// read.
  func markEverything(_ random: inout SeededGenerator) throws {
    let unread = sent.subtracting(read).sorted()
    let isAll = random.below(2) == 0 || unread.isEmpty
    let last = isAll ? "9223372036854775807" : unread[random.below(unread.count)]
    let answer = try alice.call("POST", "/v1/notifications/read", ["upTo": last])
    #expect(answer.status == 200, "\(answer)")
    let limit = try #require(Int64(last))
    read.formUnion(sent.filter { (Int64($0) ?? .max) <= limit })
  }

  func takePage() throws {
    let answer = try alice.call("GET", "/v1/notifications?limit=7" + (cursor.map { "&after=\($0)" } ?? ""))
    #expect(answer.status == 200, "\(answer)")
    #expect(answer.object["gap"] == nil, "\(answer)")
    cursor = answer["cursor"]
    paged += answer.notifications.compactMap { $0["messageServerId"] as? String }
  }

  func check(_ comment: Comment) throws {
    let owed = sent.subtracting(read)
    let unread = try alice.unread().compactMap { $0["messageServerId"] as? String }
    #expect(owed.isSubset(of: unread), "\(comment): lost, or born read")
    #expect(unread.count == Set(unread).count, "\(comment): twice on pages")
    #expect(readOneByOne.isDisjoint(with: unread), "\(comment): read, and shown")
    let isShown = stream.wait { events in
      owed.isSubset(of: events.compactMap(\.messageServerId))
    }
    #expect(isShown, "\(comment): not streamed")
    let streamed = stream.notifications.compactMap(\.messageServerId)
    #expect(streamed.count == Set(streamed).count, "\(comment): streamed twice")
    for _ in 0..<100 { try takePage() }
    #expect(owed.isSubset(of: paged), "\(comment): passed over by pages")
    #expect(paged.count == Set(paged).count, "\(comment): twice on pages")
    #expect(!stream.all.contains { $0.name == "gap" }, "\(comment)")
  }
}
