import BelfryHooks
import BelfryLoop
import BelfryStore

/// The work of a loop that no request asks for.
extension LoopServices {
  /// The interval at which Redis is asked for its memory and disk. Every node answers one short command.
  private static let redisCheckInterval: Duration = .seconds(5)
  /// The interval of the check if the key set has to be fetched.
  private static let keySetInterval: Duration = .milliseconds(200)

  /// - Parameter isFirst: true if this loop also has the work that one loop does for the whole broker.
  func periodicWorks(ofFirstLoop isFirst: Bool) -> [PeriodicWork] {
    let format = PeriodicWork("format", every: KeyspaceState.comparisonInterval, start: .afterInterval) {
      [self] in
      try await administration.compareFormat()
    }
    return isFirst ? worksOfBroker + [format] : [format]
  }

  private var worksOfBroker: [PeriodicWork] {
    let maintenance = MaintenanceTasks(loop: loop, runner: runner, condition: broker.condition).works
    return maintenance + [
      PeriodicWork("backEndKeys", every: BackEndKeys.interval, asksStoreEachRound: true) { [self] in
        try await broker.refreshBackEndKeys(from: administration)
      },
      PeriodicWork("revocations", every: Revocations.interval, asksStoreEachRound: true) { [self] in
        try await broker.refreshRevocations(from: administration)
      },
      PeriodicWork("webhookList", every: WebhookEndpoints.interval, asksStoreEachRound: true) { [self] in
        try await broker.webhooks.refresh(from: administration)
      },
      PeriodicWork("redisCheck", every: Self.redisCheckInterval, asksStoreEachRound: true) { [self] in
        broker.condition.note(hasEndedOnFullDisk: broker.isDiskFull())
        do throws(StoreError) {
          broker.condition.note(try await store.readRoom())
        } catch {
          broker.condition.noteNoAnswer()
          if error.code == .accessRefused { broker.condition.note(.refused(.rights, error.detail)) }
          throw error
        }
      },
      pusherCheck,
    ] + (broker.keySet.map { [fetching($0)] } ?? [])
  }

  /// Checks if any account has a pusher.
  private var pusherCheck: PeriodicWork {
    var nextEnd = ContinuousClock.now + PushWord.endingInterval
    return PeriodicWork("pusherCheck", every: PushWord.interval) { [self] in
      try await broker.pushWord.refresh(from: administration)
      guard broker.pushWord.isPushing, nextEnd <= .now else { return }
      nextEnd = .now + PushWord.endingInterval
      try await administration.endPushIfUnused(word: PushWord.newWord())
    }
  }

  /// A failed fetch is recorded under the origin of the URL. A round without a fetch succeeds, and must not
  /// end the series of failures.
  private func fetching(_ keySet: KeySetFetches) -> PeriodicWork {
    PeriodicWork("keySet", every: Self.keySetInterval) { [self] in
      guard keySet.begin() else { return }
      let isGood: Void? = await broker.failures.watch("keySet", on: keySet.url.origin) {
        try broker.take(fetched: try await keySet.fetch(by: outbound))
      }
      keySet.end(isGood: isGood != nil, random: .random(in: 0..<1))
    }
  }
}
