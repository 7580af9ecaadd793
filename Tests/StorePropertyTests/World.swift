import BelfryModel
import BelfryStore

/// One store, driven by steps. Its ids are its own, so everything it says about a notification names it by
/// the order in which it was sent: `#0` is the first.
final class World {
  /// A store with one time of day for the whole of a step, for every broker that asks.
  let store: any Store
  let heard: Heard
  let cast: Cast
  private let runner: OperationRunner
  private let makeMortal: MakeMortal
  private let time: StepTime
  /// When the last of what expires soon has expired, milliseconds since 1970.
  var lastExpiry: Int64 = 0
  var expiringSends = 0
  /// Lets time pass, where the store's clock needs to be told.
  private let beforeStep: () -> Void
  /// Says whether sends go by the functions made for them from now on.
  private let useSendFunctions: (Bool) -> Void
  private var usesSendFunctions = true
  /// Before everything that will be sent here, whether anybody is told of it or not.
  let beginning: MessageID
  private(set) var ids: [MessageID] = []
  private var numbers: [MessageID: Int] = [:]
  private var lastIDs: [Partition: MessageID] = [:]
  /// The earlier results of ``timeless(_:)``: a log is asked for many times.
  private var timelessContents: [String: String] = [:]

  init(
    _ store: any Store, _ feed: any LiveFeed, cast: Cast, makeMortal: @escaping MakeMortal,
    beforeStep: @escaping () -> Void = {}, useSendFunctions: @escaping (Bool) -> Void = { _ in }
  ) async throws {
    time = try await StepTime(of: store)
    let store = StoreOfStep(store, time)
    self.store = store
    heard = Heard(feed)
    beginning = MessageID(firstAtUnixMilliseconds: time.milliseconds - 1)
    self.cast = cast
    self.makeMortal = makeMortal
    self.beforeStep = beforeStep
    self.useSendFunctions = useSendFunctions
    runner = OperationRunner(store: store, limits: Cast.limits)
    try await heard.subscribe(cast.spaces + cast.accounts.map(SpaceID.personal))
    // Messages from an earlier world, if the feed is from there, are dropped.
    _ = try await heard.take(from: store)
  }

  /// The lines for a step: the answer to it and, after every so many steps and in the end, everything that
  /// can be asked.
  func said(_ steps: [Step], _ number: Int, compareEvery interval: Int) async throws -> [String] {
    let answer = try await perform(steps[number], number: number)
    let isTime = (number + 1) % interval == 0 || number + 1 == steps.count
    return [answer] + (isTime ? try await snapshot() : [])
  }

  /// The store's answer, in words that do not depend on its ids and its clock.
  func perform(_ step: Step, number: Int) async throws -> String {
    beforeStep()
    try await time.read()
    let answer = try await carryOut(step, number: number)
    while time.milliseconds <= lastExpiry {
      beforeStep()
      try await Task.sleep(for: .microseconds(100))
      try await time.read()
    }
    lastExpiry = 0
    return answer
  }

  private func carryOut(_ step: Step, number: Int) async throws -> String {
    switch step {
    case .read(let account, let places): return try await markRead(account, places)
    case .readUpToNow(let account): return try await readUpToNow(account)
    case .rewind(let account): return try await rewind(account)
    case .relay: return try await relay(by: store)
    case .sweep(let server, let account): return try await sweep(server, account, by: store)
    case .postpone(let place, let postponement): return try await postpone(place, postponement)
    case .race(let first, let second, let isTogether):
      return try await race(first, second, isTogether, number)
    case .death(let step, let writes): return try await death(step, writes, number)
    case .byCommit(let step):
      usesSendFunctions = false
      useSendFunctions(false)
      defer {
        usesSendFunctions = true
        useSendFunctions(true)
      }
      return try await carryOut(step, number: number)
    default: return try await run(step, number)
    }
  }

  /// A broker that dies after so many writes, and its store, which has the time of the step.
  func mortal(writes: Int) async throws -> (broker: any MortalBroker, store: any Store) {
    let broker = try await makeMortal(writes, usesSendFunctions)
    return (broker, StoreOfStep(broker.store, time))
  }

  // MARK: Operations

  /// - Parameter mortal: replaces the broker that is always there. Its answers, and those that it did not
  ///   give, are learned.
  func run(
    _ step: Step, _ number: Int, by mortal: (broker: any MortalBroker, store: any Store)? = nil
  ) async throws -> String {
    let runner = mortal.map { OperationRunner(store: $0.store, limits: Cast.limits) } ?? runner
    var answers: [String] = []
    var spaces: [SpaceID] = []
    do {
      if case .batch(let sends) = step {
        let operations = try await operations(sends, number)
        spaces = operations.map(\.space)
        let outcomes = await runner.run(operations)
        try record(outcomes.map { try? $0.get().commit }, in: spaces)
        for outcome in outcomes { answers.append(try words(outcome)) }
      } else {
        for operation in try await operations(step, number) where mortal?.broker.hasDied != true {
          spaces.append(operation.space)
          answers.append(try await run(operation, by: runner))
        }
      }
    } catch let refusal as Refusal {
      answers.append(Self.words(refusal))
    }
    if mortal?.broker.hasDied == true { for log in try await wholeLogs(of: spaces) { learn(log) } }
    return answers.joined(separator: "; ")
  }

  private func run<Op: Operation>(_ operation: Op, by runner: OperationRunner) async throws -> String {
    let done = try await runner.run(operation)
    try record([done.commit], in: [operation.space])
    return try words(OperationRunner.Outcome<Op>.success(done))
  }

  private func words<Output>(_ outcome: Result<OperationRunner.Done<Output>, Refusal>) throws -> String {
    let done: OperationRunner.Done<Output>
    switch outcome {
    case .failure(let refusal): return Self.words(refusal)
    case .success(let found): done = found
    }
    if let first = done.duplicateOf {
      // If the first answer was lost, only this one tells of a notification that is not stored.
      learn(first)
      return "duplicate of \(try words(first)), \(try words(done.output))"
    }
    return "\(done.commit.map(Self.words) ?? "nothing to do"), \(try words(done.output))"
  }

  private static func words(_ commit: Commit) -> String { "appended \(commit.ids.count)" }

  /// Without the runner, which would decide again: each answer is what the store made of the commit.
  private func race(
    _ first: Step, _ second: Step, _ isTogether: Bool, _ number: Int
  ) async throws -> String {
    var answers: [String] = []
    var transactions: [Transaction] = []
    for step in [first, second] {
      do {
        for operation in try await operations(step, number) {
          if let transaction = try await decide(operation) { transactions.append(transaction) }
        }
      } catch let refusal as Refusal {
        answers.append(Self.words(refusal))
      }
    }
    for transactions in isTogether ? [transactions] : transactions.map({ [$0] }) {
      let outcomes = try await store.commit(transactions).map { try $0.get() }
      try record(
        outcomes.map { if case .committed(let commit) = $0 { commit } else { nil } },
        in: transactions.map(\.space))
      for outcome in outcomes { answers.append(try words(outcome)) }
      // Twice, which must be the same as once.
      for transaction in transactions + transactions {
        try await store.relayOutbox(of: transaction.space.partition)
      }
    }
    return answers.joined(separator: "; ")
  }

  private func words(_ outcome: CommitOutcome) throws -> String {
    switch outcome {
    case .committed(let commit): Self.words(commit)
    case .duplicate(let first, _): "duplicate of \(try words(first))"
    case .differentContent: "different content"
    case .conflict: "conflict"
    case .ceiling(let table): "ceiling of \(table.name)"
    case .mailboxFull: "mailbox full"
    }
  }

  private func decide<Op: Operation>(_ operation: Op) async throws -> Transaction? {
    try await runner.decide(operation).transaction
  }

  /// Numbers what was appended, and checks what holds for every commit. In the order of the commits, partition by
  /// partition: of several sends at once, one that is decided again comes after the others.
  private func record(_ commits: [Commit?], in spaces: [SpaceID]) throws {
    var partitions: [(partition: Partition, commits: [Commit])] = []
    for case (let commit?, let partition) in zip(commits, spaces.map(\.partition)) {
      if let index = partitions.firstIndex(where: { $0.partition == partition }) {
        partitions[index].commits.append(commit)
      } else {
        partitions.append((partition, [commit]))
      }
    }
    for (partition, commits) in partitions {
      for commit in commits.sorted(by: { $0.before < $1.before }) { try record(commit, in: partition) }
    }
  }

  private func record(_ commit: Commit, in partition: Partition) throws {
    var last = commit.before
    guard last >= lastIDs[partition] ?? .zero else { throw Broken("the last id went back to \(last)") }
    for id in commit.ids {
      guard id > last, id.partition == partition else { throw Broken("id \(id) after \(last)") }
      last = id
      numbers[id] = ids.count
      ids.append(id)
    }
    lastIDs[partition] = last
  }

  // MARK: Words

  func number(of id: MessageID) throws -> Int {
    guard let number = numbers[id] else { throw Broken("nobody was told of id \(id)") }
    return number
  }

  func words(_ id: MessageID) throws -> String { "#\(try number(of: id))" }

  /// Numbers what nobody was told of: what was delivered to accounts' own spaces, or what the broker did that
  /// died before it answered.
  func learn(_ log: [LogEntry]) { for entry in log { learn(entry.id) } }

  func learn(_ id: MessageID) {
    guard numbers[id] == nil else { return }
    numbers[id] = ids.count
    ids.append(id)
  }

  /// The place of an id that may be nobody's.
  func place(of id: MessageID) -> String {
    if let number = numbers[id] { return "#\(number)" }
    return "after \(ids.count { $0.partition == id.partition && $0 < id }) ids"
  }

  /// JSON without what was taken from a clock.
  func timeless(_ json: String) throws -> String {
    if let known = timelessContents[json] { return known }
    guard let value = RecordJSON.value(json) else { throw Broken("no JSON: \(json)") }
    let text = RecordJSON.text(value.timeless)
    timelessContents[json] = text
    return text
  }

  private static func words(_ refusal: Refusal) -> String {
    "refused: \(refusal.code) \(refusal.field ?? "")"
  }

  private func words(_ output: some Sendable) throws -> String {
    switch output {
    case let server as ServerRecord: return "server \(server.name) of \(server.owner)"
    case let channel as ChannelRecord: return "channel \(channel.name)"
    case let added as [AccountID]: return "added \(added)"
    case let send as SendNotification: return try timeless(try RecordJSON.text(send.content))
    case let notification as Notification:
      return
        "\(try words(notification.messageServerId)) is \(try timeless(try RecordJSON.text(notification.content)))"
    default: return "done"
    }
  }
}

extension JSONValue {
  /// Without the numbers that are milliseconds of our days.
  fileprivate var timeless: JSONValue {
    switch self {
    case .integer(1_500_000_000_000..<10_000_000_000_000): .string("a time")
    case .array(let values): .array(values.map(\.timeless))
    case .object(let fields): .object(fields.mapValues(\.timeless))
    default: self
    }
  }
}

/// A rule that holds for every store was broken, independent of the other store.
struct Broken: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}
