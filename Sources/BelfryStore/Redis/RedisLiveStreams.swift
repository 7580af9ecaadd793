package import BelfryModel
import BelfryRedis

/// The streams that are open on each broker. All brokers share this data.
extension RedisStore {
  /// Streams that are registered in one call: some tenths of a millisecond of Redis's time.
  private static let streamsPerCall = 128
  /// Accounts asked about in one command.
  private static let accountsPerCommand = 512

  // MARK: Reading

  /// The streams and waiting pages of each account that are live now, on any broker. It takes two round trips for any number of
  /// accounts.
  package func liveStreams(of accounts: [AccountID]) async throws(StoreError) -> [[LiveStream]] {
    let lines = try await streamLines(of: accounts)
    let standing = try await standing(lines.joined().map(\.stream.registration))
    return lines.map { lines in
      lines.filter { $0.over == nil && standing.contains($0.stream.registration) }.map(\.stream)
    }
  }

  private func streamLines(of accounts: [AccountID]) async throws(StoreError) -> [[StreamLine]] {
    let place = "live streams"
    let groups = Dictionary(grouping: accounts.indices) { layout.partition(of: accounts[$0]) }
      .flatMap { partition, places in
        stride(from: 0, to: places.count, by: Self.accountsPerCommand).map { first in
          (partition: partition, places: places[first..<min(first + Self.accountsPerCommand, places.count)])
        }
      }
    let commands = groups.map { group in
      var command = RedisCommand("HMGET", layout.streams(group.partition))
      for place in group.places { command.append(accounts[place].text) }
      return command
    }
    let replies = try await pipeline(commands, at: place)
    var found = accounts.map { _ in [StreamLine]() }
    try reading(at: place) { () throws(RedisError) in
      for (group, reply) in zip(groups, replies) {
        for (place, value) in zip(group.places, try reply.array(count: group.places.count)) {
          found[place] = StreamLine.all(in: try value.ifPresent?.string() ?? "")
        }
      }
    }
    return found
  }

  /// Those of the registrations that were renewed recently. Their keys outlive that by
  /// ``StreamRegistration/memory``.
  private func standing(_ registrations: [StreamRegistration]) async throws(StoreError)
    -> Set<StreamRegistration>
  {
    let all = Array(Set(registrations))
    if all.isEmpty { return [] }
    let place = "stream registrations"
    let replies = try await pipeline(
      all.map { RedisCommand("PTTL", layout.registration($0)) }, at: place)
    let over = StreamRegistration.memory.wholeMilliseconds
    return try reading(at: place) { () throws(RedisError) in
      var standing: Set<StreamRegistration> = []
      for (registration, reply) in zip(all, replies) where try reply.integer() > over {
        standing.insert(registration)
      }
      return standing
    }
  }

  // MARK: A loop's own

  /// Begins a registration, before any stream is registered by it.
  package func begin(_ registration: StreamRegistration) async throws(StoreError) {
    var call = layout.call(.beginRegistration, in: layout.brokersHome)
    call.append(registration.name)
    call.append(StreamRegistration.keyMilliseconds)
    _ = try await checked([call], at: "stream registration")
  }

  /// Renews a registration. This takes no memory: a full Redis must not end anybody's streams.
  /// - Returns: true if the registration was still known. Otherwise all streams have to be registered again,
  ///   under another registration.
  package func renew(_ registration: StreamRegistration) async throws(StoreError) -> Bool {
    let renew = RedisCommand(
      "PEXPIRE", layout.registration(registration), StreamRegistration.keyMilliseconds)
    let replies = try await checked([renew], at: "stream registration")
    return try reading(at: "stream registration") { () throws(RedisError) in try replies[0].integer() == 1 }
  }

  /// Ends a registration: its streams are closed, or registered by another one.
  package func end(_ registration: StreamRegistration) async throws(StoreError) {
    _ = try await checked(
      [RedisCommand("UNLINK", layout.registration(registration))], at: "stream registration")
  }

  /// Registers streams. If the policy does not allow some of them together, all but the one that was opened
  /// last are to end.
  /// - Parameter again: true if they were registered before, or may have been. A stream that was ended since,
  ///   or replaced by a later one, stays so.
  /// - Returns: for each the reason why it is to end; nil if it is live.
  package func openStreams(
    _ streams: [(account: AccountID, stream: OpenedStream)], by registration: StreamRegistration,
    _ logins: LoginPolicy, again: Bool
  ) async throws(StoreError) -> [StreamEnd?] {
    let place = "open streams"
    let groups = inPartitions(streams.map(\.account))
    let calls = groups.map { group in
      var call = layout.call(.openStreams, in: group.partition)
      call.append(registration.name)
      call.append(logins.rawValue)
      call.append(again ? "again" : "new")
      for place in group.places {
        let (account, stream) = streams[place]
        call.append(account.text)
        call.append(stream.id)
        call.append(stream.age.inMilliseconds)
        call.append(stream.isWaitingPage ? StreamLine.waitingPage : stream.device?.text ?? StreamLine.none)
        call.append(stream.address.isEmpty ? StreamLine.none : stream.address)
      }
      return call
    }
    let replies = try await checked(calls, at: place)
    var ends = streams.map { _ in StreamEnd?.none }
    try reading(at: place) { () throws(RedisError) in
      for (group, reply) in zip(groups, replies) {
        for (place, text) in zip(group.places, try reply.array(count: group.places.count)) {
          ends[place] = StreamEnd(words: try text.string().split(separator: " "))
        }
      }
    }
    return ends
  }

  /// Removes streams that their loop has closed.
  package func closeStreams(_ streams: [(account: AccountID, id: String)]) async throws(StoreError) {
    let calls = inPartitions(streams.map(\.account)).map { group in
      var call = layout.call(.closeStreams, in: group.partition)
      for place in group.places {
        call.append(streams[place].account.text)
        call.append(streams[place].id)
      }
      return call
    }
    _ = try await checked(calls, at: "close streams")
  }

  private func inPartitions(_ accounts: [AccountID]) -> [(partition: Partition, places: ArraySlice<Int>)] {
    Dictionary(grouping: accounts.indices) { layout.partition(of: accounts[$0]) }.flatMap {
      partition, places in
      stride(from: 0, to: places.count, by: Self.streamsPerCall).map { first in
        (partition, places[first..<min(first + Self.streamsPerCall, places.count)])
      }
    }
  }

  // MARK: Ending other streams

  /// Has all streams of an account end, or those of one device, on any broker.
  /// - Returns: the number of them that were live.
  package func endStreams(of account: AccountID, on device: DeviceID?) async throws(StoreError) -> Int {
    let place = "end streams of \(account)"
    var call = layout.call(.endStreams, in: layout.partition(of: account))
    call.append(account.text)
    call.append(device?.text ?? StreamLine.none)
    let replies = try await checked([call], at: place)
    let lines = try reading(at: place) { () throws(RedisError) in
      try replies[0].array().map { line throws(RedisError) in try line.string() }
    }
    let streams = lines.compactMap { StreamLine($0[...])?.stream }
    do throws(StoreError) {
      let standing = try await standing(streams.map(\.registration))
      return streams.count { standing.contains($0.registration) }
    } catch {
      var error = error
      error.mayBeDone = true
      throw error
    }
  }

  // MARK: The sweep

  /// Removes the streams of brokers that died. It asks which registrations are gone after it has read the
  /// streams: a registration begins before it has streams.
  func sweepStreams(of partition: Partition) async throws(StoreError) {
    let place = "sweep streams"
    var cursor = "0"
    repeat {
      let scan = RedisCommand("HSCAN", layout.streams(partition), cursor, "COUNT", Self.streamsPerCall)
      let reply = try await pipeline([scan], at: place)[0]
      let (next, fields) = try reading(at: place) { () throws(RedisError) in try reply.scanned() }
      cursor = next
      let found = fields.map { (account: $0.0, lines: StreamLine.all(in: $0.1)) }
      let registrations = Array(Set(found.flatMap { $0.lines.map(\.stream.registration) }))
      if registrations.isEmpty { continue }
      let replies = try await pipeline(
        registrations.map { RedisCommand("EXISTS", layout.registration($0)) }, at: place)
      var gone: Set<StreamRegistration> = []
      try reading(at: place) { () throws(RedisError) in
        for (registration, reply) in zip(registrations, replies) where try reply.integer() == 0 {
          gone.insert(registration)
        }
      }
      try await forget(found, of: gone, in: partition)
    } while cursor != "0"
  }

  private func forget(
    _ found: [(account: String, lines: [StreamLine])], of gone: Set<StreamRegistration>,
    in partition: Partition
  ) async throws(StoreError) {
    var call = layout.call(.sweepStreams, in: partition)
    var isAny = false
    for (account, lines) in found {
      for registration in Set(lines.map(\.stream.registration)).intersection(gone) {
        isAny = true
        call.append(account)
        call.append(registration.name)
      }
    }
    if isAny { _ = try await checked([call], at: "sweep streams") }
  }
}

extension RedisLayout {
  /// String with a time to live: a loop has streams.
  func registration(_ registration: StreamRegistration) -> String {
    prefix(brokersHome) + "registration:" + registration.name
  }

  /// The partition of shared data of brokers that belongs to no account.
  var brokersHome: Partition { partitions.all[0] }

  /// Hash: the streams of the partition's accounts; see `Functions/streams.lua`.
  func streams(_ partition: Partition) -> String { prefix(partition) + "streams" }
}

extension StreamRegistration {
  fileprivate static let keyMilliseconds = (lifetime + memory).wholeMilliseconds
}

extension Duration {
  fileprivate var wholeMilliseconds: Int64 { components.seconds * 1_000 }
  fileprivate var inMilliseconds: Int64 { Int64(self / .milliseconds(1)) }
}

// MARK: - The texts in Redis

/// A line of an account's streams.
struct StreamLine: Sendable, Hashable {
  static let none = "*"
  /// In place of a device.
  static let waitingPage = "?"

  var stream: LiveStream
  /// The reason why it is to end.
  var over: StreamEnd?

  static func all(in text: String) -> [StreamLine] {
    text.split(separator: "\n").compactMap { StreamLine($0) }
  }

  /// Nil if no broker can have written such a text.
  init?(_ text: Substring) {
    let words = text.split(separator: " ")
    guard words.count == 5 || words.count == 7, let since = Int64(words[2]) else { return nil }
    let isWaitingPage = words[3] == Self.waitingPage
    let device = DeviceID(String(words[3]))
    guard device != nil || isWaitingPage || words[3] == Self.none else { return nil }
    stream = LiveStream(
      id: String(words[0]), registration: StreamRegistration(name: String(words[1])),
      openedAtMilliseconds: since, device: device,
      address: words[4] == Self.none ? "" : String(words[4]), isWaitingPage: isWaitingPage)
    guard words.count == 7 else { return }
    guard let over = StreamEnd(words: words[5...]) else { return nil }
    self.over = over
  }
}

extension StreamEnd {
  /// `replaced <device or *>` or `ended *`.
  init?(words: some Collection<Substring>) {
    let words = Array(words)
    guard words.count == 2 else { return nil }
    let device = words[1] == StreamLine.none ? nil : DeviceID(String(words[1]))
    switch words[0] {
    case "replaced" where device != nil || words[1] == StreamLine.none: self = .replaced(by: device)
    case "ended" where words[1] == StreamLine.none: self = .ended
    default: return nil
    }
  }
}
