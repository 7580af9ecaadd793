import BelfryLoop
import BelfryModel
import BelfryStore

/// A stream that is registered in Redis, or a page that waits. The stream itself holds the data of its registration, because there
/// may be as many streams as connections.
protocol RegisteredStream: AnyObject {
  var account: AccountID { get }
  /// The device that the client names; nil if it names none.
  var device: DeviceID? { get }
  /// The client's address, as far as the connection and trusted proxies know.
  var address: String { get }
  /// True for a page that waits, which counts as a live device and is not ended by others.
  var isWaitingPage: Bool { get }
  var registered: StreamRegistry.Place { get set }

  /// Ends the stream. It may be called more than once.
  func end(_ end: StreamEnd)
}

/// The streams of one loop, as they are registered in Redis for all brokers. It belongs to its loop.
///
/// A stream is registered only after its account's live channel is subscribed, so a command to end it is
/// always heard. Every failure between the loop and Redis has the same remedy: all streams are registered
/// again, under a new registration.
final class StreamRegistry {
  /// The position of a stream in the registry.
  struct Place {
    fileprivate let openedAt = ContinuousClock.now
    /// The number in the order of opening. 0 before the stream is opened.
    fileprivate(set) var number = 0
    /// True if Redis was told of it, or may have been told.
    fileprivate(set) var isTold = false
  }

  /// The most streams that are registered or closed in one round.
  private static let roundMax = 4_096

  private let broker: String
  private let loopNumber: Int
  private let loop: EventLoop
  private let scope: LoopScope
  private let store: RedisStore
  private let logins: LoginPolicy
  private let failures: WorkFailures
  /// The prefix of the names of this loop's streams; their numbers follow.
  private let namePrefix: String
  private var streams: [Int: any RegisteredStream] = [:]
  private var count = 0
  /// The streams whose account's live channel may not be subscribed yet.
  private var unheard: [AccountID: [Int]] = [:]
  /// The streams to be registered, in the order in which they became ready for it.
  private var ready: [Int] = []
  private var closed: [(account: AccountID, id: String)] = []
  /// Closed streams whose node of Redis did not answer. It is told with the next renewal.
  private var closedLater: [(account: AccountID, id: String)] = []
  /// Nil if all streams have to be registered again.
  private var registration: StreamRegistration?
  /// The latest registration that may have streams.
  private var lastRegistration: StreamRegistration?
  private var registrations = 0
  private var isRenewalDue = false
  /// True if a message could not be read that may have been about streams.
  private var isDoubtful = false
  /// The streams that were told to a node of Redis which did not answer. They are told again with the next renewal.
  private var unanswered: [Int] = []
  private var isTelling = false

  /// - Parameter broker: the name of the broker, which no other broker has.
  init(
    broker: String, loopNumber: Int, scope: LoopScope, loop: EventLoop, store: RedisStore,
    logins: LoginPolicy, failures: WorkFailures
  ) {
    self.broker = broker
    namePrefix = "\(broker).\(loopNumber)-"
    self.loopNumber = loopNumber
    self.loop = loop
    self.scope = scope
    self.store = store
    self.logins = logins
    self.failures = failures
  }

  // MARK: Events of streams

  /// Holds the stream until it is closed.
  func opened(_ stream: any RegisteredStream) {
    count += 1
    stream.registered.number = count
    streams[count] = stream
    guard stream.isWaitingPage else { return unheard[stream.account, default: []].append(count) }
    // Nobody ends it, so nothing has to be heard first.
    ready.append(count)
    tellRedis()
  }

  func closed(_ stream: any RegisteredStream) {
    let place = stream.registered
    guard streams.removeValue(forKey: place.number) != nil else { return }
    if place.isTold {
      closed.append((stream.account, name(place.number)))
      tellRedis()
    } else if var waiting = unheard.removeValue(forKey: stream.account) {
      waiting.removeAll { $0 == place.number }
      if !waiting.isEmpty { unheard[stream.account] = waiting }
    }
  }

  /// The name of a stream among those of all brokers.
  private func name(_ number: Int) -> String { namePrefix + String(number) }

  private func stream(named name: String) -> (any RegisteredStream)? {
    guard name.utf8.starts(with: namePrefix.utf8) else { return nil }
    return Int(name.dropFirst(namePrefix.count)).flatMap { streams[$0] }
  }

  /// Called when the live channel of the account is subscribed.
  func hear(_ account: AccountID) {
    guard let waiting = unheard.removeValue(forKey: account) else { return }
    ready += waiting
    tellRedis()
  }

  /// Called when a message may have been missed.
  func mayHaveMissed() {
    registration = nil
    tellRedis()
  }

  /// Called when a message for an account could not be read. Many may come, from a broker of another release, so all streams
  /// are registered again only when the registration is renewed.
  func noteUnreadableMessage() { isDoubtful = true }

  func end(_ ended: EndedStreams) {
    for name in ended.ids { stream(named: name)?.end(ended.why) }
  }

  // MARK: Telling Redis

  /// Renews the registration until the scope is closed.
  func start() {
    let interval = StreamRegistration.renewal
    let renewal = PeriodicWork("streams", every: interval, start: .afterInterval) { [self] in
      if isDoubtful { registration = nil }
      (isDoubtful, isRenewalDue) = (false, true)
      tellRedis()
    }
    scope.start { [self] in await renewal.run(on: loop, noting: failures) }
  }

  /// Ends the registration. Streams that are left count as closed at once.
  func close() async {
    if let lastRegistration { try? await store.end(lastRegistration) }
  }

  /// Tells Redis in one round after the other, so that a stream is never registered after it was closed.
  private func tellRedis() {
    guard !isTelling else { return }
    isTelling = scope.start { [self] in
      let isTold: Void? = await failures.watch("streams", on: "registration of \(loop.name)") {
        try await tellAll()
      }
      // It is tried again with the next stream, or when the registration would have to be renewed.
      if isTold == nil { registration = nil }
      isTelling = false
    }
  }

  private func tellAll() async throws(StoreError) {
    while true {
      if registration == nil, !streams.isEmpty {
        try await registerAgain()
      } else if let registration, isRenewalDue {
        isRenewalDue = false
        let isKnown = try await store.renew(registration)
        if !isKnown, self.registration == registration { self.registration = nil }
        closed += closedLater
        closedLater = []
        let missing = unanswered
        unanswered = []
        if isKnown { await register(missing, by: registration, again: true) }
      } else if let registration, !ready.isEmpty {
        await register(ready.removeFirst(atMost: Self.roundMax), by: registration, again: false)
      } else if !closed.isEmpty {
        let some = closed.removeFirst(atMost: Self.roundMax)
        // Without a registration no stream counts.
        if registration != nil { await tellClosed(some) }
      } else {
        return
      }
    }
  }

  /// Begins a new registration. The previous one ends afterwards, and with it the streams that were closed in
  /// the meantime.
  private func registerAgain() async throws(StoreError) {
    registrations += 1
    let before = lastRegistration
    (unanswered, closedLater) = ([], [])
    let next = StreamRegistration(broker: broker, loop: loopNumber, number: registrations)
    (registration, lastRegistration) = (next, next)
    try await store.begin(next)
    let known = streams.filter(\.value.registered.isTold).keys.sorted()
    for first in stride(from: 0, to: known.count, by: Self.roundMax) {
      await register(
        Array(known[first..<min(first + Self.roundMax, known.count)]), by: next, again: true)
    }
    if let before { try await store.end(before) }
  }

  private func register(_ numbers: [Int], by registration: StreamRegistration, again: Bool) async {
    var told: [Told] = []
    let now = ContinuousClock.now
    for number in numbers {
      guard let stream = streams[number], stream.registered.isTold == again else { continue }
      stream.registered.isTold = true
      let opened = OpenedStream(
        id: name(number), age: now - stream.registered.openedAt, device: stream.device,
        address: stream.address, isWaitingPage: stream.isWaitingPage)
      told.append(Told(number: number, account: stream.account, stream: opened))
    }
    unanswered += await tryPartByPart(told, of: \.account) { part, isRepeated throws(StoreError) in
      let ends = try await self.store.openStreams(
        part.map { ($0.account, $0.stream) }, by: registration, self.logins, again: again || isRepeated)
      for (told, end) in zip(part, ends) {
        if let end { self.streams[told.number]?.end(end) }
      }
    }.map(\.number)
  }

  private struct Told {
    var number: Int
    var account: AccountID
    var stream: OpenedStream
  }

  private func tellClosed(_ some: [(account: AccountID, id: String)]) async {
    // Their lines would count as open when their node is back.
    closedLater += await tryPartByPart(some, of: \.account) { part, _ throws(StoreError) in
      try await self.store.closeStreams(part)
    }
  }

  /// Tries the body with all together. If that fails, a node of a cluster may be away, so each partition is tried by itself.
  /// - Returns: the elements whose partition did not answer.
  private func tryPartByPart<Element>(
    _ all: [Element], of account: (Element) -> AccountID,
    _ body: ([Element], _ isRepeated: Bool) async throws(StoreError) -> Void
  ) async -> [Element] {
    if all.isEmpty { return [] }
    do throws(StoreError) {
      try await body(all, false)
      return []
    } catch {
      var left: [Element] = []
      let parts = Dictionary(grouping: all) { store.partitions.holding(.personal(account($0))) }
      for (partition, part) in parts {
        let isDone: Void? = await failures.watch("streams", on: "streams of partition \(partition.number)") {
          try await body(part, true)
        }
        if isDone == nil { left += part }
      }
      return left
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
