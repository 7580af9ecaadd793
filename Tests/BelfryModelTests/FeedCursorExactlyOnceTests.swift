import BelfryModel
import ModelSamples
import TestKit
import Testing

/// Each entry is served once, for any interleaving, and for any place where a reader is cut off and resumes.
struct FeedCursorExactlyOnceTests {
  @Test(arguments: 0..<60)
  func eachEntryIsServedOnce(round: Int) throws {
    let seed = TestEnvironment.seed &+ UInt64(round)
    var world = CursorWorld(seed: seed)
    for _ in 0..<300 { try world.step() }
    try world.serve(steps: .max)
    let expected = world.logs.flatMap { space, log in log.entries.filter { $0 > log.joinedAt } }
    #expect(world.served.count == Set(world.served).count, "served twice; seed \(seed)")
    #expect(Set(world.served) == Set(expected), "skipped or too many; seed \(seed)")
  }
}

/// Spaces of a few partitions whose clocks disagree, and one reader.
private struct CursorWorld {
  struct Log {
    var entries: [MessageID] = []
    /// The reader sees what comes after this.
    var joinedAt: MessageID
    /// Its index of spaces may learn of the space only later.
    var isKnown: Bool
  }

  var random: SeededGenerator
  var logs: [SpaceID: Log] = [:]
  var served: [MessageID] = []
  private var cursor = FeedCursor()
  private var lastIDs: [Partition: MessageID] = [:]
  private var skews: [Partition: Int64] = [:]
  private var now: Int64 = 1_763_700_000_000
  private let spaces: [SpaceID]
  /// An hour: by as much clocks differ, and step, either way.
  private static let stepMilliseconds = 3_600_000

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    // Two dozen servers in which some share a partition, as a few thousand would.
    let servers = (1...4_000).compactMap { EntityID(Int64($0)) }.map(SpaceID.server)
    spaces = servers.filter { $0.partition.number < 4 }.prefix(12).map(\.self)
    for space in spaces {
      skews[space.partition] = Int64(random.below(2 * Self.stepMilliseconds)) - Int64(Self.stepMilliseconds)
    }
  }

  mutating func step() throws {
    now += Int64(random.below(random.oneIn(10) ? 90_000 : 20))
    if random.oneIn(20) {
      now += Int64(random.below(2 * Self.stepMilliseconds)) - Int64(Self.stepMilliseconds)
    }
    let space = random.pick(spaces)
    switch random.below(10) {
    case 0: join(space)
    case 1: learn(of: space)
    case 2: try serve(steps: random.below(5))
    case 3: try serve(steps: .max)
    default: append(to: space)
    }
  }

  private mutating func join(_ space: SpaceID) {
    guard logs[space] == nil else { return }
    logs[space] = Log(joinedAt: lastIDs[space.partition] ?? .zero, isKnown: false)
  }

  private mutating func learn(of space: SpaceID) {
    guard let log = logs[space], !log.isKnown else { return }
    logs[space]?.isKnown = true
    let isAdmitted = cursor.addLagging(space, since: log.joinedAt, .standard)
    #expect(isAdmitted, "a dozen at most are late")
  }

  private mutating func append(to space: SpaceID) {
    let partition = space.partition
    let last = lastIDs[partition] ?? .zero
    let time = MessageID(
      unixMilliseconds: now + (skews[partition] ?? 0), partition: partition, sequence: 0)
    let id = time > last ? time : MessageID(last.raw + 1) ?? .last
    lastIDs[partition] = id
    logs[space]?.entries.append(id)
  }

  /// Serves up to so many entries and is then cut off, or all there are and settles.
  mutating func serve(steps: Int) throws {
    let bounds = lastIDs
    for space in spaces where steps == .max { learn(of: space) }
    var waiting: [(space: SpaceID, id: MessageID)] = []
    for (space, log) in logs where log.isKnown {
      waiting += log.entries.filter {
        $0 > max(cursor.position(in: space, .standard), log.joinedAt)
          && $0 <= bounds[space.partition] ?? .zero
      }.map { (space, $0) }
    }
    for (space, id) in interleaved(waiting).prefix(steps) {
      served.append(id)
      cursor.advance(space, to: id)
      if random.oneIn(3) { try resume() }
    }
    if steps >= waiting.count {
      cursor.reachAll(bounds, .standard)
    }
    try resume()
  }

  /// In the order of ids within a partition, in any order across them.
  private mutating func interleaved(_ waiting: [(space: SpaceID, id: MessageID)])
    -> [(space: SpaceID, id: MessageID)]
  {
    var queues = Dictionary(grouping: waiting) { $0.space.partition }
      .mapValues { $0.sorted { $0.id < $1.id } }
    var order: [(space: SpaceID, id: MessageID)] = []
    while !queues.isEmpty {
      let partition = random.pick(queues.keys.sorted())
      if let next = queues[partition]?.first { order.append(next) }
      queues[partition]?.removeFirst()
      if queues[partition]?.isEmpty == true { queues[partition] = nil }
    }
    return order
  }

  /// Another broker takes over, knowing nothing but the text.
  private mutating func resume() throws {
    cursor = try #require(FeedCursor(text: cursor.text))
  }
}
