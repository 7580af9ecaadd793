import BelfryRedis
import BelfryStore
import Synchronization

/// The condition of Redis, as the broker last saw it: writes that Redis refuses, or would if it ran, settings by which it may
/// lose what it has acknowledged, and the sweep, which is paused while there is doubt about Redis's clock. The beginning and
/// the end of each are reported once.
final class RedisCondition: Sendable {
  typealias Report = @Sendable (_ event: String, _ facts: KeyValuePairs<String, String>) -> Void

  private struct Content {
    var refusedWrites: Set<WriteRefusal> = []
    var risks: Set<DataRisk> = []
    var memoryUsedShare: Double?
    var hasEndedOnFullDisk = false
    var signs = MemorySigns()
    var sweepDoubt: ClockDoubt?
    /// Redis's words for the latest right that was missing.
    var missingRight = ""
  }

  private let content = Mutex(Content())
  /// True while writes are refused for want of memory. Each commit reads it, so it is outside the lock.
  private let isMemoryFull = Atomic(false)
  private let report: Report

  init(report: @escaping Report) { self.report = report }

  var refusedWrites: Set<WriteRefusal> { content.withLock { $0.refusedWrites } }
  /// The settings by which Redis may lose what it has acknowledged, at the last look.
  var dataRisks: Set<DataRisk> { content.withLock { $0.risks } }
  /// The used part of `maxmemory`, on the node with the least room, at the last look; nil if no node has a limit.
  var memoryUsedShare: Double? { content.withLock { $0.memoryUsedShare } }
  /// The reason for which the sweep is paused; nil if it does not wait.
  var sweepDoubt: ClockDoubt? { content.withLock { $0.sweepDoubt } }

  /// Called from any thread.
  /// - Returns: the reasons for which Redis refuses writes.
  @discardableResult
  func note(_ room: RedisRoom) -> Set<WriteRefusal> {
    note(room.risks)
    return change { content in
      content.memoryUsedShare = room.memoryUsedShare
      var refused = room.refusals
      let wasFull = content.refusedWrites.contains(.memory)
      if content.signs.isMemoryFull(wasFull: wasFull, room) { refused.insert(.memory) }
      if content.hasEndedOnFullDisk { refused.insert(.disk) }
      // No `rights`: a look throws while one is missing.
      content.refusedWrites = refused
    }
  }

  private func note(_ risks: Set<DataRisk>) {
    let before = content.withLock { content in
      defer { content.risks = risks }
      return content.risks
    }
    for risk in DataRisk.allCases where before.contains(risk) != risks.contains(risk) {
      report(
        risks.contains(risk) ? "redis may lose acknowledged data" : "redis no longer risks acknowledged data",
        ["reason": risk.rawValue])
    }
  }

  /// Notes that no node has answered: what was measured before says nothing of now. Called from any thread.
  func noteNoAnswer() { content.withLock { $0.memoryUsedShare = nil } }

  /// Notes if the embedded Redis has ended on a full disk. It cannot say so itself. The end of it is reported once Redis
  /// answers. Called from any thread.
  func note(hasEndedOnFullDisk: Bool) {
    change { content in
      content.hasEndedOnFullDisk = hasEndedOnFullDisk
      if hasEndedOnFullDisk { content.refusedWrites.insert(.disk) }
    }
  }

  /// Called from any thread.
  func note(_ sign: WriteSign, now: ContinuousClock.Instant = .now) {
    switch sign {
    case .refused(.memory, _):
      change { content in
        content.signs.noteRefusal(at: now)
        content.refusedWrites.insert(.memory)
      }
    case .refused(.rights, let cause):
      change { content in
        content.missingRight = cause
        content.refusedWrites.insert(.rights)
      }
    // A look at all nodes says more: Redis tries to save again by itself.
    case .refused(.disk, _): break
    case .done:
      guard isMemoryFull.load(ordering: .relaxed) else { return }
      content.withLock { $0.signs.noteDone(at: now) }
    }
  }

  /// Reports what begins and what ends with the change.
  @discardableResult
  private func change(_ body: (inout Content) -> Void) -> Set<WriteRefusal> {
    let (before, after, missingRight) = content.withLock { content in
      let before = content.refusedWrites
      body(&content)
      isMemoryFull.store(content.refusedWrites.contains(.memory), ordering: .relaxed)
      return (before, content.refusedWrites, content.missingRight)
    }
    for reason in WriteRefusal.allCases where before.contains(reason) != after.contains(reason) {
      if !after.contains(reason) {
        report("redis takes writes again", ["reason": reason.rawValue])
      } else if reason == .rights {
        report("redis refuses writes", ["reason": reason.rawValue, "cause": missingRight])
      } else {
        report("redis refuses writes", ["reason": reason.rawValue])
      }
    }
    return after
  }

  func note(sweepDoubt found: ClockDoubt?) {
    let before = content.withLock { content in
      defer { content.sweepDoubt = found }
      return content.sweepDoubt
    }
    guard before?.reason != found?.reason else { return }
    guard let found else { return report("the sweep continues", [:]) }
    report(
      "the sweep is paused", ["reason": found.reason, "seconds": "\(found.milliseconds / 1_000)"])
  }
}

/// The writes that have shown if the memory of Redis is full, and the rule by which it counts as full.
struct MemorySigns: Sendable, Hashable {
  /// The time in which no write was refused, before a write that was done ends the state. Near its limit, Redis
  /// takes some writes and refuses others.
  static let quietTime: Duration = .seconds(5)

  private var refusedAt: ContinuousClock.Instant?
  private var doneAt: ContinuousClock.Instant?

  mutating func noteRefusal(at now: ContinuousClock.Instant) {
    refusedAt = now
    doneAt = nil
  }

  mutating func noteDone(at now: ContinuousClock.Instant) { doneAt = now }

  /// The state begins when a node is above its limit, or with a refused write. A few free bytes do not end it,
  /// since a full Redis has some between two writes. It ends when each node has headroom, or when a write was done
  /// and none was refused for a while.
  func isMemoryFull(wasFull: Bool, _ room: RedisRoom) -> Bool {
    if room.isMemoryUsedUp { return true }
    return wasFull && !room.hasHeadroom && !isWriting
  }

  private var isWriting: Bool {
    guard let doneAt else { return false }
    return refusedAt.map { $0 + Self.quietTime <= doneAt } ?? true
  }
}
