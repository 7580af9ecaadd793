import BelfryBytes
import BelfryFeed
import BelfryLoop
import BelfryModel
import BelfryOutbound
import BelfryStore
import BelfrySystem

// Carries out the tasks that are due. The receivers are looked at in the last moment, right before the request.
extension PushDispatcher {
  /// The state of an account that a push needs. It is read for many accounts at once.
  struct Receiver {
    var streams: [LiveStream]
    var pushers: [PusherRecord]
  }

  func begin(_ begun: [PushPlaces.Begun]) async {
    let accounts = Array(Set(begun.compactMap { $0.task?.account }))
    let receivers = await readReceivers(accounts)
    for one in begun {
      guard let task = one.task else {
        await settle(one.here, one.push, [])
        continue
      }
      guard let receiver = receivers[task.account] else {
        giveTurnBack()
        // If Redis is away, the task is still due when it is back. If a node of a cluster is away, the others have their turn
        // first. That holds also if all receivers of this time are there: they would be the first again each time.
        if receivers.isEmpty, !store.isCluster {
          end(one.here)
        } else {
          await settle(one.here, one.push, postponed(task, randomPause()).map { [$0] } ?? [])
        }
        continue
      }
      let isStarted = start { [self] in await deliver(task, one.here, one.push, to: receiver) }
      if !isStarted { end(one.here) }
    }
  }

  /// Those of the receivers that can be read. A node of a cluster that is away keeps only its own accounts waiting.
  private func readReceivers(_ accounts: [AccountID]) async -> [AccountID: Receiver] {
    if accounts.isEmpty { return [:] }
    if let all = await readReceivers(accounts, "receivers on \(loopName)") { return all }
    var receivers: [AccountID: Receiver] = [:]
    let parts = Dictionary(grouping: accounts) { store.partitions.holding(.personal($0)) }
    if parts.count == 1 { return [:] }
    for (partition, part) in parts {
      let some = await readReceivers(part, "receivers of partition \(partition.number)")
      receivers.merge(some ?? [:]) { $1 }
    }
    return receivers
  }

  private func readReceivers(_ accounts: [AccountID], _ subject: String) async -> [AccountID: Receiver]? {
    await failures.watch(Self.workName, on: subject) {
      let streams = try await store.liveStreams(of: accounts)
      let pushers = try await store.pushers(of: accounts)
      return Dictionary(
        zip(accounts, zip(streams, pushers).map { Receiver(streams: $0, pushers: $1) })
      ) { $1 }
    }
  }

  private func deliver(_ task: PushTask, _ here: PushPlaces.Key, _ push: DuePush, to receiver: Receiver) async
  {
    do throws(StoreError) {
      switch task.subject {
      case .badge: await settle(here, push, try await correctBadge(task, here, of: receiver))
      case .notification(let id, let space):
        await settle(here, push, try await deliver(id, in: space, task, here, to: receiver))
      }
    } catch {
      // The others have their turn first: what the task needs may be at a node that is away.
      if error.isOfStoreAlone { return await settle(here, push, postponed(task).map { [$0] } ?? []) }
      var failed = task
      failed.attempts += 1
      await settle(here, push, again(failed, retryAfter: nil).map { [$0] } ?? [])
    }
  }

  // MARK: A notification

  /// - Returns: the tasks that are to be done later.
  private func deliver(
    _ id: MessageID, in space: SpaceID, _ task: PushTask, _ here: PushPlaces.Key, to receiver: Receiver
  ) async throws(StoreError) -> [DuePush] {
    if !receiver.streams.isEmpty {
      let now = try await store.nowMilliseconds()
      // The streams of a broker that died before may still count as open. After this time they do not.
      let sure = id.unixMilliseconds + delayMilliseconds + Self.registrationMilliseconds
      if now < sure { return [DuePush(text: task.text, dueAtMilliseconds: sure)] }
      statistics.live += 1
      return []
    }
    let known = pushers(of: receiver, for: task)
    // Nothing is read for devices that would not be tried.
    if known.allSatisfy({ isLeftAlone($0.0.url.origin) }) {
      giveTurnBack()
      return known.compactMap { postponed(task, $0.0, here) }
    }
    guard let entry = try await feed.unread(id, in: space, by: task.account),
      let content = NotificationContent(json: entry.content)
    else {
      statistics.hidden += 1
      return []
    }
    let hasBadge = content.setting.needBadge && known.contains { $0.0.kind.word == .matrix }
    let told = content.setting.needBadge ? try await countForTelling(task.account, hasBadge: hasBadge) : nil
    let count = told?.count
    let message = PushMessage(entry, content, in: space, unread: count?.counts.badge)
    var later: [DuePush] = []
    var isTold = false
    let turnEnd = ContinuousClock.now + Self.turnTime
    for (pusher, record) in known {
      if turnEnd <= .now {
        later.append(task.now(on: pusher.device))
        continue
      }
      let outcome = await send(message, to: pusher, of: task.account)
      if case .matrix = pusher.kind, outcome == .delivered { isTold = true }
      if let again = await conclude(outcome, task, pusher, record, here) { later.append(again) }
    }
    guard let count else {
      // The number is told as soon as it can be counted.
      return hasBadge ? later + [correctionNow(task.account)] : later
    }
    guard isTold, let told else { return later }
    return later + (await correctionsAfter(telling: count, task.account, told.mark))
  }

  /// Counts what is unread for a push. Pushes to one account that begin at about the same time share a count, which reads
  /// everything that is unread: twenty counts would cost more than all the rest of twenty pushes.
  private func countForTelling(_ account: AccountID, hasBadge: Bool) async throws(StoreError) -> BadgeCount? {
    let key = BadgeCount.Key(account: account, isNoted: hasBadge)
    // Nil if the broker ends: the push goes to another one.
    guard let counted = await badgeCounts.result(for: key) else {
      throw StoreError(.unavailable, "the broker is shutting down", at: "badges")
    }
    return try counted.get()
  }

  private func correctionNow(_ account: AccountID) -> DuePush {
    let now = store.estimatedMilliseconds ?? WallClock.nowMilliseconds()
    return PushTask.correction(of: account, afterMilliseconds: now)
  }

  /// Notes the numbers that gateways were told.
  /// - Returns: when they are to be told again, as far as it is known: when a counted notification expires, and soon if
  ///   another number was under way at the same time.
  private func correctionsAfter(
    telling count: UnreadCount, _ account: AccountID, _ mark: String
  ) async -> [DuePush] {
    // The number has been sent, even if that cannot be noted now. Until it is noted, a mark makes it be corrected.
    let isLast = (try? await store.noteBadge(count.counts.badge, of: account, since: mark)) ?? true
    guard isLast else { return [correctionNow(account)] }
    return count.firstExpiry.map { [PushTask.correction(of: account, afterMilliseconds: $0)] } ?? []
  }

  private func pushers(of receiver: Receiver, for task: PushTask) -> [(Pusher, PusherRecord)] {
    receiver.pushers.compactMap { record in
      guard task.device == nil || task.device == record.device else { return nil }
      return Pusher(record).map { ($0, record) }
    }
  }

  private func send(
    _ message: PushMessage, to pusher: Pusher, of account: AccountID
  ) async -> PushOutcome {
    switch pusher.kind {
    case .matrix(let gateway):
      let body = message.matrixBody(for: gateway, sinceSeconds: pusher.createdAtMilliseconds / 1_000)
      return await attempt(pusher.kind) { [client] in
        await client.push(body, to: gateway, for: account, deadline: Self.answerTime)
      }
    case .webPush(let subscription):
      let now = WallClock.nowMilliseconds()
      guard let authorization = authorization(for: subscription.endpoint, nowSeconds: now / 1_000) else {
        return .refused("this broker has no key for Web Push")
      }
      guard
        let body = WebPushEncryption.encrypt(
          message.webPushText(), for: subscription.publicKey, secret: subscription.secret)
      else { return .refused("its keys are not valid") }
      let until = message.expiresAtMilliseconds ?? now + Self.keptTryingMilliseconds
      let seconds = min(max((until - now) / 1_000, 0), Self.keptTryingMilliseconds / 1_000)
      return await attempt(pusher.kind) { [client] in
        await client.push(
          body, to: subscription, for: account, authorization: authorization, topic: message.id.text,
          timeToLiveSeconds: seconds, deadline: Self.answerTime)
      }
    }
  }

  // MARK: A badge

  /// Tells gateways how many notifications are unread now, if they were told another number. Web Push has no message that
  /// is not shown.
  private func correctBadge(_ task: PushTask, _ here: PushPlaces.Key, of receiver: Receiver)
    async throws(StoreError) -> [DuePush]
  {
    let mark = PushWord.newWord()
    // This comes before the count, as for a notification.
    let known = try await store.beginBadge(of: task.account, mark: mark, onlyIfKnown: true)
    let count = try await BadgeCount.countUnread(of: task.account, by: feed)
    let unread = count.counts.badge
    // A number that is tried again has yet to arrive, although it was noted.
    if task.device == nil {
      if known == .none { return [] }
      if known == .unread(unread) { return await correctionsAfter(telling: count, task.account, mark) }
    }
    var later: [DuePush] = []
    let turnEnd = ContinuousClock.now + Self.turnTime
    for (pusher, record) in pushers(of: receiver, for: task) {
      // A connected device counts for itself.
      guard case .matrix(let gateway) = pusher.kind,
        !receiver.streams.contains(where: { $0.device == pusher.device })
      else { continue }
      if turnEnd <= .now {
        later.append(task.now(on: pusher.device))
        continue
      }
      let body = PushMessage.matrixBadge(
        unread, for: gateway, sinceSeconds: pusher.createdAtMilliseconds / 1_000)
      let outcome = await attempt(pusher.kind) { [client] in
        await client.push(body, to: gateway, for: task.account, deadline: Self.answerTime)
      }
      if outcome == .delivered { statistics.badges += 1 }
      if let again = await conclude(outcome, task, pusher, record, here) { later.append(again) }
    }
    return later + (await correctionsAfter(telling: count, task.account, mark))
  }

  // MARK: Outcomes

  private func conclude(
    _ outcome: PushOutcome, _ task: PushTask, _ pusher: Pusher, _ record: PusherRecord, _ here: PushPlaces.Key
  ) async -> DuePush? {
    await noteHealth(outcome, of: record, task.account)
    switch outcome {
    case .delivered: return nil
    case .gone:
      statistics.removed += 1
      // A pusher that has replaced it meanwhile stays.
      _ = try? await store.removePusher(of: pusher.device, task.account, ifStill: record.text)
      return nil
    case .refused(let cause):
      statistics.givenUp += 1
      report("push given up", task.account, pusher.url.origin, cause)
      return nil
    case .failed(_, let retryAfter, _):
      return again(task.failed(on: pusher.device), retryAfter: retryAfter)
    case .notTried:
      return postponed(task, pusher, here)
    }
  }

  /// The same task for this device, when its receiver gets requests again.
  private func postponed(_ task: PushTask, _ pusher: Pusher, _ here: PushPlaces.Key) -> DuePush? {
    var same = task
    same.device = pusher.device
    guard let push = postponed(same) else { return nil }
    noteWaiting(push, here, for: pusher.url)
    return push
  }
}
