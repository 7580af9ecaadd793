import BelfryLoop
import BelfryModel
import BelfryStore
import BelfrySystem

/// The pushes of one partition. It follows the copies of the partition, and enters a task for each account that is to get a
/// push. It is used on one loop's thread. Among brokers a lease decides whose lane works.
final class PushLane {
  private static let copiesAtOnce = 100
  /// How many members are looked at in one step. Most of them have no pusher.
  private static let membersAtOnce = 1_000
  /// How many copies with more members than that are entered at the same time, while later copies pass them. If another
  /// such copy comes, it waits, and so do the copies after it.
  private static let unfinishedMax = 8
  /// How many steps one run has, so that others have their turn.
  private static let stepsMax = 16

  let partition: Partition
  private let dispatcher: PushDispatcher
  private var saved: CopyReaderState?
  private var leaseUntil = ContinuousClock.now
  private var nextClaim = ContinuousClock.now
  /// The partition's last id when all tasks were entered.
  private var seen: MessageID?
  /// When the next copy is due, by Redis's clock.
  private var dueAtMilliseconds: Int64 = 0
  private(set) var isBusy = false
  /// The unfinished copies take turns.
  private var turn = 0
  /// The names of the steps whose last run failed.
  private var failing: Set<String> = []

  init(_ partition: Partition, _ dispatcher: PushDispatcher) {
    self.partition = partition
    self.dispatcher = dispatcher
  }

  /// True if this broker holds the lease of the partition for long enough that a request that begins now ends before the
  /// lease.
  func holds(now: ContinuousClock.Instant) -> Bool {
    saved != nil && leaseUntil - now > PushDispatcher.requestTime
  }

  // MARK: The lease

  func isClaimDue(now: ContinuousClock.Instant) -> Bool { saved == nil && !isBusy && nextClaim <= now }

  /// The lane does not push for the partition any more, or no account has a pusher.
  func forget() {
    (saved, seen) = (nil, nil)
    for step in failing { dispatcher.failures.giveUp(PushDispatcher.workName, on: subject(of: step)) }
    failing = []
  }

  private func subject(of step: String) -> String { "\(step) of partition \(partition.number)" }

  /// Does a step and notes its outcome.
  /// - Returns: nil if it failed.
  @discardableResult
  private func watch<Value>(_ step: String, _ body: () async throws -> Value) async -> Value? {
    let value = await dispatcher.failures.watch(PushDispatcher.workName, on: subject(of: step), body)
    if value == nil { failing.insert(step) } else { failing.remove(step) }
    return value
  }

  func claim() async {
    isBusy = true
    defer { isBusy = false }
    let began = ContinuousClock.now
    nextClaim = began + PushDispatcher.claimInterval
    let answer = await watch("claim") {
      try await dispatcher.store.claimCopies(
        .push, in: partition, by: dispatcher.owner, milliseconds: PushDispatcher.leaseMilliseconds)
    }
    guard let claim = answer ?? nil else { return }
    (saved, seen, dueAtMilliseconds) = (claim.state, nil, 0)
    leaseUntil = began + .milliseconds(PushDispatcher.leaseMilliseconds)
  }

  func isRenewalDue(now: ContinuousClock.Instant) -> Bool {
    saved != nil && !isBusy && leaseUntil - now < .milliseconds(PushDispatcher.leaseMilliseconds * 2 / 3)
  }

  func renew() async {
    isBusy = true
    defer { isBusy = false }
    guard let state = saved else { return }
    await watch("renewal") { try await save(state) }
  }

  /// Gives the lease back, so that another broker continues at once.
  func release() async {
    guard let state = saved else { return }
    saved = nil
    _ = try? await dispatcher.store.savePush(
      in: partition, by: dispatcher.owner, milliseconds: 0, state, before: state)
  }

  /// - Returns: false if another broker has the lease.
  private func save(
    _ state: CopyReaderState, entering pushes: [DuePush] = []
  ) async throws(StoreError) -> Bool {
    guard let before = saved else { return false }
    let began = ContinuousClock.now
    let isSaved = try await dispatcher.store.savePush(
      in: partition, by: dispatcher.owner, milliseconds: PushDispatcher.leaseMilliseconds, state,
      before: before,
      entering: pushes)
    guard isSaved else {
      forget()
      return false
    }
    saved = state
    leaseUntil = began + .milliseconds(PushDispatcher.leaseMilliseconds)
    return true
  }

  // MARK: Following the copies

  /// - Parameter last: the last id of the partition.
  func isDue(last: MessageID, nowMilliseconds: Int64) -> Bool {
    guard let saved, !isBusy else { return false }
    return !saved.unfinished.isEmpty || (seen != last && dueAtMilliseconds <= nowMilliseconds)
  }

  /// Continues with the copies that are due, until enough tasks are entered.
  func follow(last: MessageID) async {
    isBusy = true
    defer { isBusy = false }
    // Tasks that were not entered are entered when Redis is back.
    await watch("copies") {
      for _ in 0..<Self.stepsMax {
        guard try await step(last: last) == true else { return }
      }
    }
  }

  /// - Returns: nil if the lease is lost, otherwise true if the lane is to continue at once.
  private func step(last: MessageID) async throws(StoreError) -> Bool? {
    guard var state = saved else { return nil }
    var found = try await takePage(&state)
    let now = try await dispatcher.store.nowMilliseconds()
    let rest = try await takeCopies(&state, &found, nowMilliseconds: now)
    guard let entered = try await enter(found, state, nowMilliseconds: now) else { return nil }
    if rest == .none, state.unfinished.isEmpty { seen = last }
    let isThereMore = rest == .more || !state.unfinished.isEmpty
    return isThereMore && entered < PushDispatcher.enoughEntered
  }

  private typealias Found = [(copy: EntryCopy, accounts: [AccountID])]

  /// The copies that are left after a step.
  private enum Rest {
    case none
    case more
    /// The next copy waits: for its time, or until another large one is entered.
    case later
  }

  /// Takes the next page of an unfinished copy. Later copies do not wait for its other pages: a broadcast takes minutes,
  /// and an entry for one account is to arrive meanwhile.
  private func takePage(_ state: inout CopyReaderState) async throws(StoreError) -> Found {
    guard !state.unfinished.isEmpty else { return [] }
    turn = (turn + 1) % state.unfinished.count
    let unfinished = state.unfinished[turn]
    let copy = try await dispatcher.store.copies(in: partition, ids: [unfinished.id]).first ?? nil
    guard let copy else {
      // It has fallen out of retention.
      state.unfinished.remove(at: turn)
      return []
    }
    let page = try await receivers(of: copy, after: unfinished.place)
    if page.isLast { state.unfinished.remove(at: turn) } else { state.unfinished[turn].place = page.next }
    return [(copy, page.accounts)]
  }

  /// Takes the copies after the position that are due, until there are enough receivers.
  private func takeCopies(
    _ state: inout CopyReaderState, _ found: inout Found, nowMilliseconds now: Int64
  ) async throws(StoreError) -> Rest {
    let copies = try await dispatcher.store.copies(
      in: partition, after: state.position, limit: Self.copiesAtOnce)
    var count = 0
    for copy in copies {
      guard copy.isRecall || isPushed(copy) else {
        state.position = copy.id
        continue
      }
      // The id may be seconds ahead of the clock, after a restart of Redis.
      dueAtMilliseconds = copy.timeMilliseconds + dispatcher.delayMilliseconds
      guard dueAtMilliseconds <= now else { return .later }
      let page = try await receivers(of: copy, after: state.place)
      if !page.isLast {
        guard state.unfinished.count < Self.unfinishedMax else { return .later }
        state.unfinished.append(UnfinishedCopy(id: copy.id, place: page.next))
      }
      found.append((copy, page.accounts))
      count += page.accounts.count
      (state.position, state.place) = (copy.id, nil)
      if count >= Self.membersAtOnce { return .more }
    }
    return copies.count < Self.copiesAtOnce ? .none : .more
  }

  /// - Returns: how many tasks were entered. Nil if the lease is lost.
  private func enter(
    _ found: Found, _ state: CopyReaderState, nowMilliseconds now: Int64
  ) async throws(StoreError) -> Int? {
    guard state != saved else { return 0 }
    let sent = Array(Set(found.lazy.filter { !$0.copy.isRecall }.flatMap(\.accounts)))
    let pushed = sent.isEmpty ? [] : Set(try await dispatcher.store.withPushers(among: sent))
    let recalled = Array(Set(found.lazy.filter { $0.copy.isRecall }.flatMap(\.accounts)))
    // There is a number to correct only if a gateway was told one.
    let told = recalled.isEmpty ? [] : try await dispatcher.store.withBadges(among: recalled)
    var tasks = told.map { PushTask.correction(of: $0, afterMilliseconds: now) }
    for (copy, accounts) in found where !copy.isRecall {
      for account in accounts where pushed.contains(account) {
        let task = PushTask(.notification(copy.id, copy.space), for: account)
        tasks.append(DuePush(text: task.text, dueAtMilliseconds: now))
      }
    }
    guard try await save(state, entering: tasks) else { return nil }
    dispatcher.statistics.entered += tasks.count
    return tasks.count
  }

  private static let wish = Array("\"pushEnable\":true".utf8)

  private func isPushed(_ copy: EntryCopy) -> Bool {
    guard copy.updates == nil else { return false }
    if dispatcher.typeEndings.contains(where: { copy.content.ends(with: $0) }) { return true }
    // Most copies are not pushed. The search for these bytes finds that without decoding the content.
    guard copy.content.firstRange(of: Self.wish) != nil else { return false }
    return NotificationContent(json: copy.content)?.setting.pushEnable ?? false
  }

  // MARK: Receivers

  private struct Receivers {
    var accounts: [AccountID]
    var isLast = true
    /// The place where the next page begins, unless this is the last page. Nil means the beginning.
    var next: PageCursor?
  }

  /// Some of the accounts that the entry may be for. Each of them is checked once more right before the push.
  private func receivers(of copy: EntryCopy, after place: PageCursor?) async throws(StoreError) -> Receivers {
    guard let audience = Audience(bytes: copy.audience) else { return Receivers(accounts: []) }
    switch copy.space.kind {
    case .account: return Receivers(accounts: AccountID(copy.space.name).map { [$0] } ?? [])
    case .direct: return Receivers(accounts: audience.named)
    case .server, .group, .room: break
    }
    if audience.rule == .named { return Receivers(accounts: audience.named) }
    let page: RecordPage
    do throws(StoreError) {
      page = try await dispatcher.store.page(
        of: TableAddress(copy.space, .roster), after: place, limit: Self.membersAtOnce)
    } catch {
      guard error.code == .badCursor else { throw error }
      // Redis was started again and has another order. Accounts that got the push before get it once more.
      return Receivers(accounts: [], isLast: false, next: nil)
    }
    let members = page.records.compactMap { record -> AccountID? in
      guard let account = AccountID(record.field), let member = MemberRecord(text: record.text) else {
        return nil
      }
      let verdict = Visibility.asSent(
        copy.updates ?? copy.id, audience, for: account, membership: member.membership, retentionFloor: .zero)
      return verdict.isVisible ? account : nil
    }
    // Named accounts may no longer be members.
    return Receivers(
      accounts: place == nil ? members + audience.named : members, isLast: page.next == nil, next: page.next)
  }
}

extension Collection<UInt8> {
  fileprivate func ends(with ending: [UInt8]) -> Bool {
    count >= ending.count && suffix(ending.count).elementsEqual(ending)
  }
}
