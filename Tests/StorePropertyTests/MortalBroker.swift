import BelfryLoop
import BelfryModel
import BelfryRedis
import TestKit

@testable import BelfryStore

/// A broker that dies after so many writes to the store: the last of them is done, and the broker never
/// learns of it; with none, it dies before the first. A write is one step of Redis: a commit, a message to an
/// account or a directory, or the removal of an item from an outbox.
protocol MortalBroker: AnyObject {
  var store: any Store { get }
  var hasDied: Bool { get }
  /// Dead or not, it is gone once this returns, and nothing of it is on its way.
  func end() async throws
}

/// Gives a broker that dies after so many writes.
typealias MakeMortal = (_ writes: Int, _ usesSendFunctions: Bool) async throws -> any MortalBroker

// MARK: - Redis

/// A store with a connection of its own, which breaks. Redis and the rest of the world remain.
final class MortalRedis: MortalBroker {
  private let link: FrailLink
  private let redis: RedisStore
  var store: any Store { redis }

  /// - Parameter link: has no other user meanwhile.
  init(
    _ link: FrailLink, writes: Int, on loop: EventLoop, _ redisLimits: RedisLimits, usesSendFunctions: Bool
  ) {
    self.link = link
    link.mend(writes: writes)
    redis = RedisStore(
      loop: loop, endpoint: .unixSocket(link.socketPath), limits: Cast.limits, redisLimits: redisLimits)
    redis.usesSendFunctions = usesSendFunctions
    redis.start()
  }

  var hasDied: Bool { link.isBroken }

  func end() async throws {
    // Commands that were sent without waiting for an answer have been done once a later one is answered.
    if !hasDied { _ = try await redis.lastIDs(of: [SpaceID.personal(Heard.witness).partition]) }
    redis.close()
  }
}

// MARK: - Memory

/// The oracle, as it is left by a broker that dies; perhaps with something wrong about that.
final class MortalMemory: ForwardingStore, MortalBroker {
  private let memory: MemoryStore
  private let fault: FaultyStore.Fault?
  private let usesSendFunctions: Bool
  private var writesLeft: Int
  private(set) var hasDied = false
  var store: any Store { self }

  /// - Parameter base: the memory, or what passes everything on to it.
  init(
    _ base: any Store, _ memory: MemoryStore, writes: Int, usesSendFunctions: Bool, fault: FaultyStore.Fault?
  ) {
    self.memory = memory
    self.fault = fault
    self.usesSendFunctions = usesSendFunctions
    writesLeft = writes
    super.init(base)
  }

  func end() {}

  /// Each call of Redis is one write.
  override func commit(_ transactions: [Transaction]) async -> [CommitResult] {
    var results: [CommitResult] = transactions.map { _ in .failure(Self.deadInCommit) }
    for indices in calls(of: transactions) {
      guard writesLeft > 0 else {
        die()
        break
      }
      writesLeft -= 1
      if writesLeft == 0 {
        _ = await base.commit(indices.map { left(transactions[$0]) })
        die()
        break
      }
      let done = await base.commit(indices.map { transactions[$0] })
      for (index, result) in zip(indices, done) { results[index] = result }
    }
    return results
  }

  private struct Call {
    var partition: Partition
    /// Nil for the function of all commits, which takes anything.
    var sends: SendCall?
    var indices: [Int] = []

    /// False if the send has to go in another call.
    mutating func add(_ index: Int, _ send: PlainSend?) -> Bool {
      if let send {
        guard sends?.add(send) ?? true else { return false }
      } else {
        sends = nil
      }
      indices.append(index)
      return true
    }
  }

  /// The calls by which Redis is asked, each as the indices of its transactions: one for each partition, and another one
  /// where a send has the name of one before it. A broker may die between the two.
  private func calls(of transactions: [Transaction]) -> [[Int]] {
    var calls: [Call] = []
    for (index, transaction) in transactions.enumerated() {
      let partition = transaction.space.partition
      let send = usesSendFunctions ? PlainSend(transaction) : nil
      if let last = calls.lastIndex(where: { $0.partition == partition }), calls[last].add(index, send) {
        continue
      }
      var call = Call(partition: partition, sends: send.map { _ in SendCall() })
      _ = call.add(index, send)
      calls.append(call)
    }
    return calls.map(\.indices)
  }

  /// The rest of a transaction over which the broker dies.
  private func left(_ transaction: Transaction) -> Transaction {
    var transaction = transaction
    // It is no part of the commit: who has no answer does not come to tell the devices.
    transaction.echo = nil
    switch fault {
    case .forgetsTheUnanswered: transaction.dedupe = nil
    case .leavesNothingToRelay:
      (transaction.indexChanges, transaction.deliveries, transaction.listing) = ([], [], nil)
    default: break
    }
    return transaction
  }

  override func relayOutbox(of partition: Partition) async throws(StoreError) {
    guard memory.outboxes[partition] != nil else { return }
    writesLeft -= memory.relayOutbox(of: partition, writes: writesLeft)
    guard writesLeft == 0 else { return }
    if fault == .strikesOffWhatIsHalfTold { memory.outboxes[partition]?.removeFirst() }
    throw die()
  }

  override func restoreIndexes(
    _ memberships: [StandingMembership], in space: SpaceID, asOf version: MessageID
  ) async throws(StoreError) {
    if memberships.isEmpty { return }
    writesLeft -= memory.restoreIndexes(memberships, in: space, asOf: version, writes: writesLeft)
    if writesLeft == 0 { throw die() }
  }

  /// Asked after indexes were told. A broker that died over that has no answer.
  override func spaceCounts(
    of accounts: [AccountID], in kind: SpaceKind
  ) async throws(StoreError) -> [SpaceCount] {
    if hasDied { throw Self.dead }
    return try await super.spaceCounts(of: accounts, in: kind)
  }

  /// How far it had come makes no difference, once another has swept.
  override func sweep(_ partition: Partition) async throws(StoreError) { throw die() }

  private static let dead = StoreError(.unavailable, "dead", at: "memory")

  /// A broker that dies does not know if its commit was done.
  private static var deadInCommit: StoreError {
    var error = dead
    error.mayBeDone = true
    return error
  }

  @discardableResult
  private func die() -> StoreError {
    hasDied = true
    if fault == .deliversAgain { memory.delivered = [:] }
    return Self.dead
  }
}
