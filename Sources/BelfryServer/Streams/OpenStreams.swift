import BelfryLoop
import BelfryModel
import BelfryStore

/// The streams of one loop, as they are registered in Redis for all brokers. It belongs to its loop.
///
/// A stream is registered once its account's live channel is subscribed, so it cannot be ended unheard. Whatever goes
/// wrong between the loop and Redis has one remedy: all its streams are registered anew, by another registration.
final class OpenStreams {
  private struct Stream {
    let account: AccountID
    let device: DeviceID?
    let address: String
    let openedAtMilliseconds: Int64
    /// In the order in which they were opened.
    let number: Int
    /// Whether Redis was told of it, or may have been.
    var isRegistered = false
    let end: (StreamEnd) -> Void
  }

  /// Streams that are registered, or closed, in one round.
  private static let roundMax = 4_096

  private let broker: String
  private let loopNumber: Int
  private let loop: EventLoop
  private let scope: LoopScope
  private let store: RedisStore
  private let logins: LoginPolicy
  private var streams: [String: Stream] = [:]
  private var count = 0
  /// Streams whose account's live channel may not be subscribed yet.
  private var unheard: [AccountID: [String]] = [:]
  /// Streams to be registered, in the order in which they became ready for it.
  private var ready: [String] = []
  private var closed: [(account: AccountID, id: String)] = []
  /// Nil: all streams have to be registered anew.
  private var registration: StreamRegistration?
  /// The latest that streams may stand under.
  private var lastRegistration: StreamRegistration?
  private var registrations = 0
  private var isRenewalDue = false
  private var isTelling = false

  /// - Parameter broker: its name, which no other one has.
  init(
    broker: String, loopNumber: Int, scope: LoopScope, loop: EventLoop, store: RedisStore,
    logins: LoginPolicy
  ) {
    self.broker = broker
    self.loopNumber = loopNumber
    self.loop = loop
    self.scope = scope
    self.store = store
    self.logins = logins
  }

  // MARK: What happens to streams

  /// - Parameter end: called when it is to end; perhaps more than once.
  /// - Returns: its id.
  func opened(
    by account: AccountID, on device: DeviceID?, from address: String, nowMilliseconds: Int64,
    end: @escaping (StreamEnd) -> Void
  ) -> String {
    count += 1
    let id = "\(broker).\(loopNumber)-\(count)"
    streams[id] = Stream(
      account: account, device: device, address: address, openedAtMilliseconds: nowMilliseconds,
      number: count, end: end)
    unheard[account, default: []].append(id)
    return id
  }

  func closed(_ id: String) {
    guard let stream = streams.removeValue(forKey: id) else { return }
    if stream.isRegistered {
      closed.append((stream.account, id))
      tellRedis()
    } else if var waiting = unheard.removeValue(forKey: stream.account) {
      waiting.removeAll { $0 == id }
      if !waiting.isEmpty { unheard[stream.account] = waiting }
    }
  }

  /// The live channel of the account is subscribed.
  func hear(_ account: AccountID) {
    guard let waiting = unheard.removeValue(forKey: account) else { return }
    ready += waiting
    tellRedis()
  }

  /// Something may have been said that was not heard.
  func mayHaveMissed() {
    registration = nil
    tellRedis()
  }

  func end(_ ended: EndedStreams) {
    for id in ended.ids { streams[id]?.end(ended.why) }
  }

  // MARK: Telling Redis

  /// Renews the registration until the scope is closed.
  func start() {
    scope.start { [self] in
      while (try? await loop.sleep(for: StreamRegistration.renewal)) != nil {
        isRenewalDue = true
        tellRedis()
      }
    }
  }

  /// Streams that are left count as closed at once.
  func close() async {
    if let lastRegistration { try? await store.end(lastRegistration) }
  }

  /// One round after the other, so that a stream is never registered after it was closed.
  private func tellRedis() {
    guard !isTelling else { return }
    isTelling = scope.start { [self] in
      do throws(StoreError) {
        try await tellAll()
      } catch {
        // Tried again with the next stream, or when the registration would have to be renewed.
        registration = nil
      }
      isTelling = false
    }
  }

  private func tellAll() async throws(StoreError) {
    while true {
      if registration == nil, !streams.isEmpty {
        try await registerAnew()
      } else if let registration, isRenewalDue {
        isRenewalDue = false
        let isKnown = try await store.renew(registration)
        if !isKnown, self.registration == registration { self.registration = nil }
      } else if let registration, !ready.isEmpty {
        try await register(ready.removeFirst(atMost: Self.roundMax), by: registration, again: false)
      } else if !closed.isEmpty {
        let some = closed.removeFirst(atMost: Self.roundMax)
        // Without a registration none of them counts.
        if registration != nil { try await store.closeStreams(some) }
      } else {
        return
      }
    }
  }

  /// The registration before it ends afterwards: streams that were closed meanwhile are over with it.
  private func registerAnew() async throws(StoreError) {
    registrations += 1
    let before = lastRegistration
    let next = StreamRegistration(broker: broker, loop: loopNumber, number: registrations)
    (registration, lastRegistration) = (next, next)
    try await store.begin(next)
    let known = streams.filter(\.value.isRegistered).sorted { $0.value.number < $1.value.number }.map(\.key)
    for first in stride(from: 0, to: known.count, by: Self.roundMax) {
      try await register(
        Array(known[first..<min(first + Self.roundMax, known.count)]), by: next, again: true)
    }
    if let before { try await store.end(before) }
  }

  private func register(
    _ ids: [String], by registration: StreamRegistration, again: Bool
  ) async throws(StoreError) {
    var told: [(account: AccountID, stream: LiveStream)] = []
    for id in ids {
      guard let stream = streams[id], stream.isRegistered == again else { continue }
      streams[id]?.isRegistered = true
      told.append(
        (
          stream.account,
          LiveStream(
            id: id, registration: registration, openedAtMilliseconds: stream.openedAtMilliseconds,
            device: stream.device, address: stream.address)
        ))
    }
    if told.isEmpty { return }
    let ends = try await store.openStreams(told, by: registration, logins, again: again)
    for (stream, end) in zip(told, ends) {
      if let end { streams[stream.stream.id]?.end(end) }
    }
  }
}

extension Array {
  fileprivate mutating func removeFirst(atMost count: Int) -> [Element] {
    let first = Array(prefix(count))
    removeFirst(first.count)
    return first
  }
}
