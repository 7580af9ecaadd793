import BelfryModel
import BelfryRedis

extension Transaction {
  /// Whether it appends one entry to a server, a group or a room, and does nothing else: what `send` does.
  ///
  /// Not a notification that is only said, which takes an id and no entry. Not one to accounts: an account's own space
  /// asks for room in its mailbox, and a direct message tells its receivers.
  var isPlainSend: Bool {
    guard announcements.count == 1, announcements[0].content.setting.persistEnable, onlyAnnounces,
      mailboxRoom == nil, preconditions.count <= SendCall.recordsMax
    else { return false }
    return switch space.kind {
    case .server, .group, .room: true
    case .account, .direct: false
    }
  }
}

/// A call of `send` or `send_many` while sends of one partition are added to it; `Functions/send.lua` reads its
/// arguments.
struct SendCall {
  /// Each is a call of Redis: of more records, as where many receivers are named, `commit` asks for all at once.
  static let recordsMax = 4

  /// Sends to one space, one after the other, that rely on the same records and have the same audience.
  private struct Section {
    let space: SpaceID
    let audience: Audience
    let records: SendRecords
    var count = 0

    /// Whether each send brings a record of its sender.
    var areOfMembers: Bool { records.sender != nil }
    var argumentsPerSend: Int { areOfMembers ? 4 : 2 }

    func takes(_ transaction: Transaction, _ records: SendRecords) -> Bool {
      space == transaction.space && audience == transaction.announcements[0].audience
        && self.records.shares(records)
    }

    /// As the function reads it.
    var shape: String { "\(count) \(argumentsPerSend) \(records.others.count)" }
  }

  private var sections: [Section] = []
  private var arguments = RedisCommand.arguments()
  private var fields = RedisCommand.arguments()
  private var count = 0
  private var areAnyRemembered = false

  var byteCount: Int { arguments.byteCount + fields.byteCount }

  mutating func add(_ transaction: Transaction) {
    let records = SendRecords(transaction.preconditions)
    if sections.last?.takes(transaction, records) != true { begin(transaction, records) }
    let text = transaction.announcements[0].content.text
    arguments.append(text.bytes)
    if let dedupe = transaction.dedupe {
      arguments.append(SendFingerprint(CollectionOfOne(transaction.given?.text ?? text)).text)
      fields.append(dedupe.field(in: transaction.space))
      areAnyRemembered = true
    } else {
      arguments.append("")
      fields.append("")
    }
    if sections[sections.count - 1].areOfMembers {
      arguments.append(records.sender?.field ?? "")
      arguments.append(records.sender?.text ?? "")
    }
    sections[sections.count - 1].count += 1
    count += 1
  }

  private mutating func begin(_ transaction: Transaction, _ records: SendRecords) {
    let audience = transaction.announcements[0].audience
    sections.append(Section(space: transaction.space, audience: audience, records: records))
    arguments.append(transaction.space.key)
    arguments.append(audience.text)
    arguments.append(records.settings)
    for record in records.others {
      arguments.append(record.address.table.name)
      arguments.append(record.address.field)
      arguments.append(record.text)
    }
  }

  /// - Parameter limits: what the functions need of them.
  func command(in partition: Partition, _ layout: RedisLayout, limits: String) -> RedisCommand {
    let isOne = count == 1
    var command = layout.call(isOne ? .send : .sendMany, in: partition)
    command.append(limits)
    command.append(argumentsOf: arguments)
    if areAnyRemembered { command.append(argumentsOf: fields) }
    for section in sections { command.append(section.shape) }
    if !isOne { command.append("\(sections.count) \(areAnyRemembered ? count : 0)") }
    return command
  }

  /// The limits that the functions go by, as they read them.
  static func text(_ limits: Limits) -> String {
    let numbers = [
      limits.dedupeWindowMilliseconds, Int64(limits.entriesPerSpace), Int64(limits.subscriptionThreshold),
      limits.retentionMilliseconds,
    ]
    return numbers.map(String.init).joined(separator: " ")
  }
}

/// The records that a send relies on, by what the functions make of them.
private struct SendRecords {
  typealias Record = (address: RecordAddress, text: String)

  /// `*`: it relies on no settings.
  private(set) var settings = "*"
  /// The one of the roster: the sender's, unless receivers are named.
  private(set) var sender: (field: String, text: String)?
  private(set) var others: [Record] = []

  init(_ records: [RecordAddress: String?]) {
    var members = 0
    for (address, text) in records {
      switch address.table {
      case .settings where address == .settings(address.space): settings = text ?? ""
      case .roster:
        members += 1
        if members == 1 { sender = (address.field, text ?? "") } else { others.append((address, text ?? "")) }
      default: others.append((address, text ?? ""))
      }
    }
  }

  /// Whether one that relies on these others can stand in the same section: all but the sender is the same.
  func shares(_ other: SendRecords) -> Bool {
    settings == other.settings && (sender == nil) == (other.sender == nil)
      && others.count == other.others.count
      && zip(others, other.others).allSatisfy { $0.address == $1.address && $0.text == $1.text }
  }
}
