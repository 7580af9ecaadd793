import BelfryModel
import BelfryRedis

/// A transaction that appends one entry to a server, a group or a room, and does nothing else: what `send` does.
///
/// Not a notification that is only said, which takes an id and no entry. Not one to accounts: an account's own space
/// asks for room in its mailbox, and a direct message tells its receivers.
struct PlainSend {
  fileprivate let space: SpaceID
  fileprivate let audience: Audience
  fileprivate let records: SendRecords
  fileprivate let content: ContentText
  /// What a repetition is compared by; the content, unless a callback made it of something else.
  fileprivate let given: ContentText
  fileprivate let dedupe: DedupeField?

  /// Nil if it is something else.
  init?(_ transaction: Transaction) {
    guard transaction.announcements.count == 1, transaction.onlyAnnounces, transaction.mailboxRoom == nil,
      transaction.preconditions.count <= SendCall.recordsMax
    else { return nil }
    switch transaction.space.kind {
    case .server, .group, .room: break
    case .account, .direct: return nil
    }
    let announcement = transaction.announcements[0]
    guard announcement.content.setting.persistEnable else { return nil }
    space = transaction.space
    audience = announcement.audience
    records = SendRecords(transaction.preconditions)
    content = announcement.content.text
    given = transaction.given?.text ?? content
    dedupe = transaction.dedupe.map { DedupeField($0, in: transaction.space) }
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

    func takes(_ send: PlainSend) -> Bool {
      space == send.space && audience == send.audience && records.shares(send.records)
    }
  }

  private var sections: [Section] = []
  private var arguments = RedisCommand.arguments()
  /// Of the last section, whose arguments they follow.
  private var senders = RedisCommand.arguments()
  private var fields = RedisCommand.arguments()
  private var fingerprints = RedisCommand.arguments()
  /// Those of `fields`.
  private var names: Set<DedupeField> = []
  private var count = 0

  var byteCount: Int {
    arguments.byteCount + senders.byteCount + fields.byteCount + fingerprints.byteCount
  }

  /// - Returns: False if a send of the same sender to the same place under the same name is among them: which of them is
  ///   the first one the function tells by what other calls have done. Nothing is added then.
  mutating func add(_ send: PlainSend) -> Bool {
    if let dedupe = send.dedupe {
      guard names.insert(dedupe).inserted else { return false }
      fields.append(dedupe)
      fingerprints.append(SendFingerprint(CollectionOfOne(send.given)).text)
    } else {
      fields.append("")
      fingerprints.append("")
    }
    if sections.last?.takes(send) != true { begin(send) }
    arguments.append(send.content.bytes)
    if let sender = send.records.sender {
      senders.append(sender.field)
      senders.append(sender.text)
    }
    sections[sections.count - 1].count += 1
    count += 1
    return true
  }

  private mutating func begin(_ send: PlainSend) {
    if sections.isEmpty { arguments = RedisCommand.arguments(bytes: 1_024) } else { finishSection() }
    sections.append(Section(space: send.space, audience: send.audience, records: send.records))
    arguments.append(send.space.key)
    arguments.append(send.audience.text)
    arguments.append(send.records.settings)
    for record in send.records.others {
      arguments.append(record.address.table.name)
      arguments.append(record.address.field)
      arguments.append(record.text)
    }
  }

  private mutating func finishSection() {
    arguments.append(argumentsOf: senders)
    senders = RedisCommand.arguments()
  }

  /// - Parameter limits: what the functions need of them.
  consuming func command(in partition: Partition, _ layout: RedisLayout, limits: String) -> RedisCommand {
    finishSection()
    let isOne = count == 1
    var command = layout.call(isOne ? .send : .sendMany, in: partition)
    if isOne {
      command.append(joining: limits, " ", sections[0].records.shape, "")
    } else {
      command.append(limits)
    }
    command.append(argumentsOf: arguments)
    if !names.isEmpty {
      command.append(argumentsOf: fields)
      command.append(argumentsOf: fingerprints)
    }
    guard !isOne else { return command }
    for section in sections { command.append("\(section.count) \(section.records.shape)") }
    command.append("\(sections.count) \(names.isEmpty ? 0 : count)")
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

  /// Whether there is a sender's, and how many others, as the functions read it.
  var shape: String { Self.shapes[sender == nil ? 0 : 1][others.count] }

  private static let shapes = (0...1).map { senders in
    (0...SendCall.recordsMax).map { "\(senders) \($0)" }
  }

  /// Whether one that relies on these others can stand in the same section: all but the sender is the same.
  func shares(_ other: SendRecords) -> Bool {
    settings == other.settings && (sender == nil) == (other.sender == nil)
      && others.count == other.others.count
      && zip(others, other.others).allSatisfy { $0.address == $1.address && $0.text == $1.text }
  }
}
