import BelfryHub
import BelfryLoop
import BelfryModel
import BelfryStore
import Testing

/// A generator that can be started again from what a failure printed.
final class Chance {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// SplitMix64.
  func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
  func happens(percent: Int) -> Bool { below(100) < percent }
  func pick<Element>(_ from: [Element]) -> Element { from[below(from.count)] }
}

/// The store in memory, with every answer on its way for a while: others get to run in between, as they
/// do while a real store is asked. Relays can fail, as when a broker dies after its commit.
final class SlowStore: Store {
  let memory: MemoryStore
  private let chance: Chance
  var relayFailurePercent = 0
  /// How often logs were read.
  private(set) var readings = 0

  init(_ memory: MemoryStore, _ chance: Chance) {
    self.memory = memory
    self.chance = chance
  }

  private func delay() async {
    for _ in 0..<chance.below(4) { await Task.yield() }
  }

  private func slowly<Value>(_ work: () throws(StoreError) -> Value) async throws(StoreError) -> Value {
    await delay()
    let value = try work()
    await delay()
    return value
  }

  func records(_ addresses: [RecordAddress]) async throws(StoreError) -> Records {
    try await slowly { () throws(StoreError) in memory.records(addresses) }
  }
  func counts(_ tables: [TableAddress]) async throws(StoreError) -> [Int] {
    try await slowly { () throws(StoreError) in memory.counts(tables) }
  }
  func page(of table: TableAddress, after cursor: PageCursor?, limit: Int) async throws(StoreError)
    -> RecordPage
  {
    try await slowly { () throws(StoreError) in try memory.page(of: table, after: cursor, limit: limit) }
  }
  func commit(_ transactions: [Transaction]) async -> [CommitResult] {
    await delay()
    let results = memory.commit(transactions)
    await delay()
    return results
  }
  func relayOutbox(of partition: Partition) async throws(StoreError) {
    if chance.happens(percent: relayFailurePercent) { return }
    try await slowly { () throws(StoreError) in memory.relayOutbox(of: partition) }
  }
  func partitionsToRelay() async throws(StoreError) -> [Partition] { memory.partitionsToRelay() }
  func sweep(_ partition: Partition) async throws(StoreError) { memory.sweep(partition) }
  func entries(_ requests: [LogRequest]) async throws(StoreError) -> [[LogEntry]] {
    readings += 1
    return try await slowly { () throws(StoreError) in try memory.entries(requests) }
  }
  func lastIDs(of partitions: [Partition]) async throws(StoreError) -> [MessageID] {
    try await slowly { () throws(StoreError) in memory.lastIDs(of: partitions) }
  }
  func ends(of spaces: [SpaceID]) async throws(StoreError) -> [LogEnd] {
    try await slowly { () throws(StoreError) in memory.ends(of: spaces) }
  }
  func spaces(in partition: Partition) async throws(StoreError) -> [SpaceID] { memory.spaces(in: partition) }
  func index(of account: AccountID) async throws(StoreError) -> [IndexEntry] {
    try await slowly { () throws(StoreError) in memory.index(of: account) }
  }
  func memberRecords(
    of account: AccountID, in spaces: [SpaceID]
  ) async throws(StoreError) -> [MemberRecord?] {
    try await slowly { () throws(StoreError) in memory.memberRecords(of: account, in: spaces) }
  }
  func spaceCounts(of accounts: [AccountID], in kind: SpaceKind) async throws(StoreError) -> [Int] {
    memory.spaceCounts(of: accounts, in: kind)
  }
  func page(
    of directory: ListingChange.Directory, after cursor: PageCursor?, limit: Int
  ) async throws(StoreError) -> DirectoryPage { try memory.page(of: directory, after: cursor, limit: limit) }
  func dueSpaces(nowMilliseconds: Int64) async throws(StoreError) -> [DueSpace] {
    memory.dueSpaces(nowMilliseconds: nowMilliseconds)
  }
  func postpone(_ due: DueSpace, toMilliseconds time: Int64?) async throws(StoreError) {
    memory.postpone(due, toMilliseconds: time)
  }
  func readState(of account: AccountID) async throws(StoreError) -> ReadState {
    try await slowly { () throws(StoreError) in memory.readState(of: account) }
  }
  func readState(of account: AccountID, among ids: [MessageID]) async throws(StoreError) -> ReadState {
    try await slowly { () throws(StoreError) in memory.readState(of: account, among: ids) }
  }
  func markRead(_ mark: ReadMark, by account: AccountID) async throws(StoreError) -> Int {
    try await slowly { () throws(StoreError) in memory.markRead(mark, by: account) }
  }
  func compactReadState(of account: AccountID, to watermark: MessageID) async throws(StoreError) {
    memory.compactReadState(of: account, to: watermark)
  }
  func nowMilliseconds() async throws(StoreError) -> Int64 { memory.clockMilliseconds }
}

/// Live messages on their way for a while, in order; a lost connection loses those under way.
final class SlowLiveFeed: LiveFeed {
  var onMessage: ((SpaceID, LiveMessage) -> Void)?
  var onConnected: ((Bool) -> Void)?
  private let memory: MemoryStore
  private let inner: MemoryLiveFeed
  private var underWay: [(SpaceID, LiveMessage)] = []

  init(_ memory: MemoryStore) {
    self.memory = memory
    inner = MemoryLiveFeed(memory)
    inner.onMessage = { [unowned self] in underWay.append(($0, $1)) }
    inner.onConnected = { [unowned self] isConnected in
      underWay.removeAll()
      onConnected?(isConnected)
    }
  }

  var heardUpToMilliseconds: Int64 { inner.heardUpToMilliseconds }
  func subscribe(_ space: SpaceID) async throws(StoreError) {
    await Task.yield()
    try inner.subscribe(space)
    await Task.yield()
  }
  func unsubscribe(_ space: SpaceID) { inner.unsubscribe(space) }

  func arrive(atMost count: Int) {
    for _ in 0..<min(count, underWay.count) {
      let (space, message) = underWay.removeFirst()
      onMessage?(space, message)
    }
  }

  func breakOff() {
    inner.isConnected = false
    inner.isConnected = true
  }
}

/// Somebody with a stream, who is cut off now and then and returns with the last event id.
final class Client {
  let account: AccountID
  private(set) var received: [MessageID] = []
  private var consumer: Consumer?
  private var cursor: FeedCursor?
  private var text: [UInt8] = []

  init(_ account: AccountID) { self.account = account }

  func open(_ hub: Hub) throws {
    guard consumer == nil else { return }
    text = []
    consumer = try hub.openConsumer(
      account: account, device: nil, after: cursor, expiresAtMilliseconds: .max)
  }

  func cut() {
    consumer?.close()
    consumer = nil
  }

  /// Takes what is ready, as much as a socket of some size would.
  func pull(room: Int) throws {
    guard let consumer else { return }
    var bytes = [UInt8](repeating: 0, count: room)
    let count = unsafe bytes.withUnsafeMutableBytes { room in
      var buffer = unsafe StreamBuffer(room)
      _ = consumer.pull(into: &buffer)
      return buffer.count
    }
    text += bytes[..<count]
    try takeEvents()
  }

  private func takeEvents() throws {
    while let end = text.indices.dropFirst().first(where: { text[$0] == 10 && text[$0 - 1] == 10 }) {
      let event = String(decoding: text[..<end], as: UTF8.self)
      text.removeSubrange(...end)
      guard event.hasPrefix("event: notification\n") else { continue }
      for line in event.split(separator: "\n") {
        if line.hasPrefix("id: ") { cursor = FeedCursor(text: String(line.dropFirst(4))) ?? cursor }
        if line.hasPrefix("data: {\"messageServerId\":\"") {
          let rest = line.dropFirst("data: {\"messageServerId\":\"".count)
          received.append(try #require(MessageID(String(rest.prefix { $0 != "\"" }))))
        }
      }
    }
  }
}
