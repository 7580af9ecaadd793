import BelfryLoop
import BelfryModel
import BelfryRedis
import RedisFixture

@testable import BelfryStore

/// A broker that dies after so many writes to the store: the last of them is done, and the broker never
/// learns of it; with none, it dies before the first. What is a write is what Redis does in one step: a
/// commit, an account or a directory told, an item of an outbox struck off.
protocol MortalBroker: AnyObject {
  var store: any Store { get }
  var hasDied: Bool { get }
  /// Dead or not, it is gone once this returns, and nothing of it is on its way.
  func end() async throws
}

/// Gives a broker that dies after so many writes.
typealias MakeMortal = (_ writes: Int) async throws -> any MortalBroker

// MARK: - Redis

/// A store with a connection of its own, which breaks. Redis and the rest of the world remain.
final class MortalRedis: MortalBroker {
  private let link: FrailLink
  private let redis: RedisStore
  var store: any Store { redis }

  /// - Parameter link: has no other user meanwhile.
  init(_ link: FrailLink, writes: Int, on loop: EventLoop, _ redisLimits: RedisLimits) {
    self.link = link
    link.mend(writes: writes)
    redis = RedisStore(
      loop: loop, endpoint: .unixSocket(link.socketPath), limits: Cast.limits, redisLimits: redisLimits)
    redis.start()
  }

  var hasDied: Bool { link.isBroken }

  func end() async throws {
    // What was sent without waiting for an answer has been done once something later is answered.
    if !hasDied { _ = try await redis.lastIDs(of: [SpaceID.personal(Heard.witness).partition]) }
    redis.close()
  }
}

// MARK: - Memory

/// The oracle, as it is left by a broker that dies; perhaps with something wrong about that.
final class MortalMemory: ForwardingStore, MortalBroker {
  private let memory: MemoryStore
  private let fault: FaultyStore.Fault?
  private var writesLeft: Int
  private(set) var hasDied = false
  var store: any Store { self }

  /// - Parameter base: the memory, or what passes everything on to it.
  init(_ base: any Store, _ memory: MemoryStore, writes: Int, fault: FaultyStore.Fault?) {
    self.memory = memory
    self.fault = fault
    writesLeft = writes
    super.init(base)
  }

  func end() {}

  override func commit(_ transaction: Transaction) async throws(StoreError) -> CommitOutcome {
    guard writesLeft > 0 else { throw death() }
    writesLeft -= 1
    guard writesLeft == 0 else { return try await base.commit(transaction) }
    var transaction = transaction
    // It is no part of the commit: who has no answer does not come to tell the devices.
    transaction.echo = nil
    switch fault {
    case .forgetsTheUnanswered: transaction.dedupe = nil
    case .leavesNothingToRelay:
      (transaction.indexChanges, transaction.deliveries, transaction.listing) = ([], [], nil)
    default: break
    }
    _ = try await base.commit(transaction)
    throw death()
  }

  override func relayOutbox(of partition: Partition) async throws(StoreError) {
    guard memory.outboxes[partition] != nil else { return }
    writesLeft -= memory.relayOutbox(of: partition, writes: writesLeft)
    guard writesLeft == 0 else { return }
    if fault == .strikesOffWhatIsHalfTold { memory.outboxes[partition]?.removeFirst() }
    throw death()
  }

  /// How far it had come makes no difference, once another has swept.
  override func sweep(_ partition: Partition) async throws(StoreError) { throw death() }

  private func death() -> StoreError {
    hasDied = true
    if fault == .deliversAgain { memory.arrived = [:] }
    return StoreError(.unavailable, "dead", at: "memory")
  }
}
