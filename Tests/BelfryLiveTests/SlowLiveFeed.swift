import BelfryLoop
import BelfryModel
import BelfryStore

/// Live messages on their way for a while, in order; a lost connection loses those under way.
final class SlowLiveFeed: LiveFeed {
  var onMessage: ((SpaceID, LiveMessage) -> Void)?
  var onUnreadable: ((SpaceID) -> Void)?
  var onHearingChange: ((Bool, [Partition]) -> Void)?
  private let memory: MemoryStore
  private let loop: EventLoop
  private let inner: MemoryLiveFeed
  /// Nil: what arrives cannot be read.
  private var underWay: [(space: SpaceID, message: LiveMessage?)] = []
  private var subscribed: Set<SpaceID> = []
  /// How often each space was subscribed to or given up.
  private var turns: [SpaceID: Int] = [:]

  init(_ memory: MemoryStore, on loop: EventLoop) {
    self.memory = memory
    self.loop = loop
    inner = MemoryLiveFeed(memory)
    inner.onMessage = { [unowned self] in underWay.append(($0, $1)) }
    inner.onHearingChange = { [unowned self] isHeard, partitions in
      underWay.removeAll()
      onHearingChange?(isHeard, partitions)
    }
  }

  func isSubscribed(_ space: SpaceID) -> Bool { subscribed.contains(space) }
  func subscribe(_ space: SpaceID) async throws(StoreError) {
    let turn = turns[space, default: 0] + 1
    turns[space] = turn
    await loop.letOthersRun()
    // As a connection to Redis does. Messages would arrive otherwise that nobody follows.
    guard turns[space] == turn else {
      throw StoreError(.unavailable, "it was given up meanwhile", at: "subscribe \(space)")
    }
    try inner.subscribe(space)
    subscribed.insert(space)
    await loop.letOthersRun()
  }
  func unsubscribe(_ space: SpaceID) {
    turns[space, default: 0] += 1
    inner.unsubscribe(space)
    subscribed.remove(space)
  }

  /// The messages that have arrived, for `arriveAgain`.
  private(set) var arrived: [(space: SpaceID, message: LiveMessage)] = []

  /// A message comes once more, after all that came since: a server that was cut off sends it when it is heard again.
  func arriveAgain(_ message: (space: SpaceID, message: LiveMessage)) {
    onMessage?(message.space, message.message)
  }

  func arrive(atMost count: Int) {
    for _ in 0..<min(count, underWay.count) {
      let (space, message) = underWay.removeFirst()
      if let message { arrived.append((space, message)) }
      if let message { onMessage?(space, message) } else { onUnreadable?(space) }
    }
  }

  /// Says something that nobody can read, after all that is under way.
  func sayUnreadable(in space: SpaceID) {
    if isSubscribed(space) { underWay.append((space, nil)) }
  }

  /// The messages under way from this place on, up to the count, cannot be read when they arrive.
  func garble(from place: Int, count: Int = 1) {
    for index in underWay.indices.dropFirst(place).prefix(count) { underWay[index].message = nil }
  }

  /// The messages under way are not heard, and nobody knows.
  func lose(_ isLost: (SpaceID, LiveMessage) -> Bool) {
    underWay.removeAll { space, message in message.map { isLost(space, $0) } ?? false }
  }

  func breakOff() {
    inner.isConnected = false
    inner.isConnected = true
  }
}
