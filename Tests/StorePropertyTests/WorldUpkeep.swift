import BelfryModel
import BelfryStore

// The work that brokers do without being asked, and their deaths.
extension World {
  func relay(by store: any Store) async throws -> String {
    let partitions = try await store.partitionsToRelay()
    for partition in partitions { try await store.relayOutbox(of: partition) }
    return partitions.isEmpty ? "nothing to relay" : "relayed \(partitions.map(\.number))"
  }

  func sweep(_ server: Int, _ account: Int, by store: any Store) async throws -> String {
    try await store.sweep(SpaceID.server(cast.servers[server]).partition)
    try await store.sweep(SpaceID.personal(cast.accounts[account]).partition)
    return "swept"
  }

  // MARK: Spaces to look at

  /// A time later than any that an operation sets. A still later one comes after it.
  static let longAfterMilliseconds: Int64 = 9_000_000_000_000

  func postpone(_ place: Int, _ postponement: Postponement) async throws -> String {
    let due = try await store.dueSpaces(nowMilliseconds: Self.longAfterMilliseconds).spaces
      .sorted { $0.space.key < $1.space.key }
    guard !due.isEmpty else { return "nothing is due" }
    var chosen = due[place % due.count]
    if postponement == .tooLate { chosen.atMilliseconds += 1 }
    try await store.postpone(
      chosen, toMilliseconds: postponement == .forEver ? nil : Self.longAfterMilliseconds + 1)
    return "postponed \(chosen.space)"
  }

  // MARK: Deaths

  /// A broker does the step and dies after so many writes. Changes that it leaves to be relayed wait until
  /// another broker comes by. A send that it does not answer is sent again, to another broker.
  func death(_ step: Step, _ writes: Int, _ number: Int) async throws -> String {
    let mortal = try await mortal(writes: writes)
    let answer: String
    switch step {
    case .sweep(let server, let account): return try await sweep(server, account, after: mortal)
    case .relay: answer = (try? await relay(by: mortal.store)) ?? "not all relayed"
    default: answer = try await run(step, number, by: mortal)
    }
    let hasDied = mortal.broker.hasDied
    try await mortal.broker.end()
    guard hasDied else { return answer }
    switch step {
    case .send, .batch: return "died: \(answer); again: \(try await run(step, number))"
    default: return "died: \(answer)"
    }
  }

  /// Sweeps to the end what another begins. At once: until then, what is over may be there or not. And the
  /// answer does not tell whether the other died, for the oracle sweeps in one step and Redis in many.
  private func sweep(
    _ server: Int, _ account: Int, after mortal: (broker: any MortalBroker, store: any Store)
  ) async throws -> String {
    _ = try? await sweep(server, account, by: mortal.store)
    try await mortal.broker.end()
    return try await sweep(server, account, by: store) + " to the end"
  }
}
