import Synchronization

/// The TLS of a process's servers, one on each loop. All of them share it, so a session can be resumed on any
/// loop. It is replaced as a whole: open sessions keep what they began with.
package final class ServerTLS: Sendable {
  private struct State {
    var identity: TLSIdentity
    var tickets: TicketKeys
    var context: TLSContext
  }

  private let state: Mutex<State>

  package init(_ identity: TLSIdentity) throws(TLSError) {
    let tickets = try TicketKeys()
    state = Mutex(
      State(
        identity: identity, tickets: tickets, context: try TLSContext(serving: identity, tickets: tickets)))
  }

  /// The context for a new session.
  package var context: TLSContext { state.withLock { $0.context } }

  /// Shows new sessions another certificate. Earlier ones can still be resumed.
  /// - Throws: if the certificate cannot be used; then the previous one stays.
  package func take(_ identity: TLSIdentity) throws(TLSError) {
    try change { state throws(TLSError) in
      state.context = try TLSContext(serving: identity, tickets: state.tickets)
      state.identity = identity
    }
  }

  /// Replaces the keys that encrypt tickets when they are due.
  package func renewTickets(now: ContinuousClock.Instant = .now) throws(TLSError) {
    try change { state throws(TLSError) in
      guard state.tickets.isStale(now: now) else { return }
      let tickets = try state.tickets.replaced(now: now)
      state.context = try TLSContext(serving: state.identity, tickets: tickets)
      state.tickets = tickets
    }
  }

  private func change(_ body: (inout State) throws(TLSError) -> Void) throws(TLSError) {
    let result: Result<Void, TLSError> = state.withLock { state in
      do throws(TLSError) {
        return .success(try body(&state))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}
