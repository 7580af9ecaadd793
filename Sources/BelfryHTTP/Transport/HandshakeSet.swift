import BelfryLoop
import BelfrySystem
import BelfryTransport

/// The handshakes of a server. Each step takes a signature. The steps are done in turn, and for a short time
/// in each turn of the loop, so that thousands at once delay nobody else for long. Handshakes that have begun
/// go first. So the work for them is not lost, and only as many wait as the server can serve.
final class HandshakeSet {
  private unowned let server: HTTPServer
  private let tls: ServerTLS
  private var all: [Handshake] = []
  private var beginning = Queue<Handshake>()
  private var continuing = Queue<Handshake>()
  /// The number of handshakes that have a session, and these in the order in which they began, with some that
  /// have ended since. A search through all for the oldest would take longer than a handshake.
  private var begunCount = 0
  private var begun = Queue<Handshake>()
  /// Those that were accepted, the oldest first, with some that have begun or ended since.
  private var silent = Queue<Handshake>()
  private var done = 0
  private var resumed = 0
  private var failed: [HTTPHandshakeFailure: Int] = [:]
  /// The failures since the last report.
  private var failures = 0
  /// When failures may be reported again.
  private var quietUntil: ContinuousClock.Instant?

  init(by tls: ServerTLS, for server: HTTPServer) {
    self.tls = tls
    self.server = server
  }

  var count: Int { all.count }

  var counts: HTTPHandshakeCounts {
    HTTPHandshakeCounts(done: done, resumed: resumed, failed: failed, waiting: all.count)
  }

  /// True if steps are left for the next turn.
  var isBusy: Bool { !beginning.isEmpty || !continuing.isEmpty }

  func take(_ descriptor: Int32, from client: ClientAddress) {
    do throws(SystemError) {
      let handshake = try Handshake(descriptor, from: client, on: server.loop) { [unowned self] in queue($0) }
      handshake.position = all.count
      all.append(handshake)
      dropFirstThatSpoke()
      silent.append(handshake)
    } catch {
      // The kernel has no memory for another.
      SocketTransport(descriptor).close()
    }
  }

  private func queue(_ handshake: Handshake) {
    guard !handshake.isQueued, handshake.listen(for: []) else { return end(handshake) }
    handshake.isQueued = true
    if handshake.transport == nil { beginning.append(handshake) } else { continuing.append(handshake) }
  }

  /// Does steps until this turn's time is over.
  func advance() {
    guard isBusy else { return }
    let end = ContinuousClock.now + HTTPLimits.handshakeTurn
    repeat {
      guard let next = continuing.popFirst() ?? beginning.popFirst() else { return }
      next.isQueued = false
      if !next.isClosed { step(next) }
    } while .now < end
  }

  private func step(_ handshake: Handshake) {
    let wasBegun = handshake.transport != nil
    let step = handshake.advance(by: tls)
    if !wasBegun, handshake.transport != nil { noteBegun(handshake) }
    switch step {
    case .wait:
      if handshake.transport == nil, !handshake.listen(for: .readable) { return end(handshake) }
      if begunCount > server.limits.handshakesWaiting { endLongestWaiting() }
    case .done:
      guard let transport = handshake.transport else { return end(handshake) }
      if transport.isResumed { resumed += 1 } else { done += 1 }
      leave(handshake)
      server.take(transport, from: handshake.client)
    case .plain:
      note(.notEncrypted, "it speaks HTTP, not HTTPS", handshake.client)
      leave(handshake)
      server.take(SocketTransport(handshake.descriptor), from: handshake.client, refused: .notEncrypted)
    case .failed(let cause):
      note(.refused, cause, handshake.client)
      end(handshake)
    case .left:
      end(handshake)
    }
  }

  func checkDeadlines(at now: ContinuousClock.Instant) {
    for handshake in all where handshake.acceptedAt + server.limits.handshakeTime <= now {
      if handshake.transport == nil {
        note(.silent, "the client sent nothing", handshake.client)
      } else {
        note(.tooSlow, "the client did not finish in time", handshake.client)
      }
      end(handshake)
    }
  }

  func closeAll() {
    while let last = all.last { end(last) }
  }

  private func noteBegun(_ handshake: Handshake) {
    begunCount += 1
    while let first = begun.first, first.isClosed { begun.popFirst() }
    begun.append(handshake)
  }

  /// Has the queue begin with a client that has sent nothing.
  private func dropFirstThatSpoke() {
    while let first = silent.first, first.isClosed || first.transport != nil { silent.popFirst() }
  }

  /// Ends the oldest handshake of a client that has sent nothing, since an honest client sends its first message at once. One
  /// that is new stays, because that message is on its way, until many are silent.
  /// - Returns: false if there is none.
  func endLongestSilent() -> Bool {
    dropFirstThatSpoke()
    guard let oldest = silent.first else { return false }
    let areMany = (all.count - begunCount) * 4 > server.openConnections
    guard areMany || oldest.acceptedAt + HTTPLimits.newTime <= server.loop.now else { return false }
    silent.popFirst()
    note(.silent, "the client sent nothing", oldest.client)
    end(oldest)
    return true
  }

  /// Ends the handshake that has waited longest. When another one begins, all that have begun wait for their
  /// clients, because those that can go on go first.
  private func endLongestWaiting() {
    while let longest = begun.popFirst() {
      guard !longest.isClosed else { continue }
      note(.tooManyWait, "too many other handshakes are waiting for their clients", longest.client)
      return end(longest)
    }
  }

  private func end(_ handshake: Handshake) {
    guard !handshake.isClosed else { return }
    remove(handshake)
    handshake.close()
    server.handshakeEnded()
  }

  private func leave(_ handshake: Handshake) {
    remove(handshake)
    handshake.leave()
  }

  /// The last one takes its index.
  private func remove(_ handshake: Handshake) {
    if handshake.transport != nil { begunCount -= 1 }
    let last = all.removeLast()
    guard last !== handshake else { return }
    all[handshake.position] = last
    last.position = handshake.position
  }

  private func note(_ failure: HTTPHandshakeFailure, _ cause: String, _ client: ClientAddress) {
    failed[failure, default: 0] += 1
    failures += 1
    let now = server.loop.now
    guard quietUntil.map({ $0 <= now }) ?? true else { return }
    quietUntil = now + HTTPLimits.pauseNoteInterval
    server.handler.handshakesFailed(
      HTTPHandshakeFailures(count: failures, lastCause: cause, lastClient: client))
    failures = 0
  }
}
