/// The commands that are sent to one node together.
struct RoutedBatch {
  let address: RedisEndpoint.Address
  /// True if each unit is sent after ASKING, since the node does not own its slot yet.
  let isAsking: Bool
  /// True if replicas must have the effect of the commands before anybody learns of it.
  let isAwaited: Bool
  /// The units in the order of sending, each by its number and its commands.
  var units: [(number: Int, commands: Range<Int>)] = []

  func write(_ all: [RedisCommand], to output: OutputBuffer) {
    for unit in units {
      // Redis forgets ASKING after the next command, but not within a transaction.
      if isAsking { output.append(RedisCommand("ASKING")) }
      for command in all[unit.commands] { output.append(command) }
    }
  }

  /// For each unit the redirection in its replies; nil if it was carried out.
  func redirections(in replies: RedisReplies) -> [Redirection?] {
    var replies = replies.makeIterator()
    return units.map { _, commands in
      var found: Redirection?
      // The reply to ASKING.
      if isAsking { _ = replies.next() }
      for _ in commands {
        if case .error(let message) = replies.next(), found == nil || found == .later {
          found = Redirection(message, from: address) ?? found
        }
      }
      return found
    }
  }
}

/// Distributes commands to the nodes that have their keys, puts the replies in the order of the commands, and
/// sends redirected commands again.
///
/// The state machine is pure: the map of slots and the time are passed in.
struct RoutingStateMachine {
  typealias Address = RedisEndpoint.Address
  typealias Instant = ContinuousClock.Instant

  enum Action {
    case finished([Result<RedisReply, RedisError>])
    case sendAgain(after: Duration)
  }

  let deadline: Instant
  private let units: [RoutedUnit]
  private let awaited: [Bool]
  private var results: [Result<RedisReply, RedisError>?]
  /// The units without a result, and the node that one of them is to be asked at once, against the map.
  private var open: [Int]
  private var asked: [Int: Address] = [:]
  private var budget = RedirectionBudget()
  /// The slowest of the redirections in the last replies.
  private var pending: Redirection?

  /// - Parameter isAwaited: true if replicas must have the effect of a command.
  init(_ commands: [RedisCommand], isAwaited: (RedisCommand) -> Bool, deadline: Instant) {
    self.deadline = deadline
    let units = RoutedUnit.units(of: commands)
    // Awaited commands are sent in batches of their own: in another batch a read after a write to the same
    // slot would overtake it.
    let slots = Set(units.filter { commands[$0.commands].contains(where: isAwaited) }.map(\.slot))
    awaited = units.map { slots.contains($0.slot) }
    self.units = units
    results = Array(repeating: nil, count: commands.count)
    open = Array(units.indices)
  }

  func slot(of unit: Int) -> Int? { units[unit].slot }

  /// - Parameter any: the node for commands that any node can answer; nil: the first of the map.
  /// - Returns: the batches to send, and the units for which the map has no node.
  func batches(by map: SlotMap?, any: Address? = nil) -> (batches: [RoutedBatch], unserved: [Int]) {
    var batches: [RoutedBatch] = []
    var places: [Destination: Int] = [:]
    var unserved: [Int] = []
    for unit in open {
      guard let destination = destination(of: unit, by: map, any) else {
        unserved.append(unit)
        continue
      }
      let place = places[destination] ?? batches.count
      if place == batches.count {
        places[destination] = place
        batches.append(
          RoutedBatch(
            address: destination.address, isAsking: destination.isAsking, isAwaited: destination.isAwaited))
      }
      batches[place].units.append((unit, units[unit].commands))
    }
    return (batches, unserved)
  }

  private struct Destination: Hashable {
    var address: Address
    var isAsking: Bool
    var isAwaited: Bool
  }

  private func destination(of unit: Int, by map: SlotMap?, _ any: Address?) -> Destination? {
    if let address = asked[unit] {
      return Destination(address: address, isAsking: true, isAwaited: awaited[unit])
    }
    guard let map else { return nil }
    let address = units[unit].slot.map { map.owner(of: $0) } ?? any ?? map.masters.first
    return address.map { Destination(address: $0, isAsking: false, isAwaited: awaited[unit]) }
  }

  mutating func fail(_ unit: Int, _ error: RedisError) {
    for index in units[unit].commands { results[index] = .failure(error) }
    open.removeAll { $0 == unit }
  }

  /// - Returns: the redirections in the replies.
  mutating func take(_ result: Result<RedisReplies, RedisError>, of batch: RoutedBatch) -> [Redirection] {
    guard case .success(let all) = result else {
      if case .failure(let error) = result { for unit in batch.units { fail(unit.number, error) } }
      return []
    }
    var replies = all.makeIterator()
    var redirections: [Redirection] = []
    for ((unit, commands), found) in zip(batch.units, batch.redirections(in: all)) {
      if batch.isAsking { _ = replies.next() }
      for index in commands { if let reply = replies.next() { results[index] = .success(reply) } }
      guard let found else {
        open.removeAll { $0 == unit }
        asked[unit] = nil
        continue
      }
      redirections.append(found)
      asked[unit] = if case .ask(_, let address) = found { address } else { nil }
      if pending == nil || found == .later { pending = found }
    }
    return redirections
  }

  mutating func next(now: Instant) -> Action {
    let redirection = pending ?? .later
    pending = nil
    if !open.isEmpty, let pause = budget.next(redirection), now + pause < deadline {
      return .sendAgain(after: pause)
    }
    // A command that is still redirected gets its error reply as its result.
    let missing = RedisError(.unexpectedReply, cause: "a reply is missing", place: "pipeline")
    return .finished(results.map { $0 ?? .failure(missing) })
  }
}
