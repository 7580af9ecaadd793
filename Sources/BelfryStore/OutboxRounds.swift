import BelfryModel

/// The change that an item of an outbox makes for one account or one directory.
struct RelayMessage {
  enum Payload {
    /// A change for one account.
    case index(IndexChange, AccountID)
    /// A membership for an index that has forgotten the space. No outbox has such a message.
    case presence(StandingMembership)
    /// A delivery, with its position among the deliveries of the item.
    case delivery(Delivery, position: Int)
    case listing(ListingChange)
  }

  /// A space and one receiver. Messages with the same subject are delivered in the order of the commits.
  struct Subject: Hashable {
    var space: SpaceID
    /// Nil: the directory that the space may be listed in.
    var account: AccountID?
  }

  /// The index of its item.
  var item: Int
  var space: SpaceID
  var version: MessageID
  var before: MessageID
  /// The account whose share of the receiver's mailbox it uses; nil: nobody's.
  var charged: AccountID?
  var payload: Payload

  var subject: Subject {
    switch payload {
    case .index(_, let account): Subject(space: space, account: account)
    case .presence(let standing): Subject(space: space, account: standing.account)
    case .delivery(let delivery, _): Subject(space: space, account: delivery.account)
    case .listing: Subject(space: space, account: nil)
    }
  }
}

extension RelayMessage {
  /// Tells an account's index of a membership that it has forgotten.
  init(_ standing: StandingMembership, in space: SpaceID, asOf version: MessageID) {
    self.init(
      item: 0, space: space, version: version, before: standing.since, payload: .presence(standing))
  }
}

// MARK: - Calls

extension RelayMessage {
  enum Function: Hashable {
    case relay, deliver, list

    /// Messages in one call: half a millisecond of Redis's time.
    fileprivate var messagesMax: Int {
      switch self {
      case .relay: 50
      case .deliver: 16
      case .list: 1
      }
    }
  }

  var function: Function {
    switch payload {
    case .index, .presence: .relay
    case .delivery: .deliver
    case .listing: .list
    }
  }

  func partition(among partitions: Partitions) -> Partition {
    switch payload {
    case .index(_, let account): partitions.holding(.personal(account))
    case .presence(let standing): partitions.holding(.personal(standing.account))
    case .delivery(let delivery, _): partitions.holding(.personal(delivery.account))
    case .listing(let listing): partitions.holding(listing.directory)
    }
  }
}

/// The messages that one call of a function carries, all to one partition.
struct RelayCall {
  private struct Receiver: Hashable {
    var function: RelayMessage.Function
    var partition: Partition
  }

  var function: RelayMessage.Function
  var partition: Partition
  var messages: [RelayMessage] = []

  /// The smallest number of calls that holds the messages.
  static func calls(for messages: [RelayMessage], among partitions: Partitions) -> [RelayCall] {
    var calls: [RelayCall] = []
    var open: [Receiver: Int] = [:]
    for message in messages {
      let receiver = Receiver(function: message.function, partition: message.partition(among: partitions))
      var place = open[receiver] ?? calls.count
      if place < calls.count, calls[place].messages.count >= receiver.function.messagesMax {
        place = calls.count
      }
      if place == calls.count {
        calls.append(RelayCall(function: receiver.function, partition: receiver.partition))
        open[receiver] = place
      }
      calls[place].messages.append(message)
    }
    return calls
  }
}

// MARK: - Rounds

extension OutboxItem {
  /// Items read from an outbox at once. Each may concern a thousand accounts.
  static let perPage = 64

  /// The item's messages, in the order in which they are relayed.
  /// - Parameter number: the index of the item.
  func messages(_ number: Int) -> [RelayMessage] {
    var payloads: [RelayMessage.Payload] = relays.index.flatMap { change in
      change.accounts.map { .index(change, $0) }
    }
    payloads += relays.deliveries.enumerated().map { .delivery($1, position: $0) }
    if let listing = relays.listing { payloads.append(.listing(listing)) }
    return payloads.map {
      RelayMessage(
        item: number, space: space, version: version, before: before, charged: relays.charged, payload: $0)
    }
  }
}

/// The messages of some items of an outbox, in rounds, and which items are done.
///
/// Messages of one round do not depend on each other and may leave together: what two items have for one subject is in
/// two rounds. After a message that failed, later ones for the same subject are held back with it; other subjects go on.
struct OutboxRounds {
  /// Messages in a round: some milliseconds of Redis's time, between which it serves others.
  static let roundMax = 200

  private let items: [OutboxItem]
  private var waiting: ArraySlice<RelayMessage>
  /// Subjects that nothing more is relayed to, since an earlier message failed.
  private(set) var held: Set<RelayMessage.Subject>
  private var incomplete: Set<Int> = []

  /// - Parameter items: in the order of their versions.
  init(_ items: [OutboxItem], held: Set<RelayMessage.Subject>) {
    self.items = items
    self.held = held
    waiting = items.enumerated().flatMap { $1.messages($0) }[...]
  }

  /// Empty when nothing is left.
  mutating func nextRound() -> [RelayMessage] {
    var round: [RelayMessage] = []
    var itemsOfSubjects: [RelayMessage.Subject: Int] = [:]
    while round.count < Self.roundMax, let message = waiting.first {
      let subject = message.subject
      if held.contains(subject) {
        incomplete.insert(message.item)
      } else if itemsOfSubjects[subject, default: message.item] != message.item {
        break
      } else {
        itemsOfSubjects[subject] = message.item
        round.append(message)
      }
      waiting.removeFirst()
    }
    return round
  }

  mutating func fail(_ message: RelayMessage) {
    held.insert(message.subject)
    incomplete.insert(message.item)
  }

  /// After the last round: the items all of whose messages were relayed.
  var done: [OutboxItem] {
    items.indices.filter { !incomplete.contains($0) }.map { items[$0] }
  }
}
