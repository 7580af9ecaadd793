import BelfryModel
import BelfryRedis

/// A transaction that appends one entry to a server, a group or a room and does nothing else, which is what `send` does.
///
/// An ephemeral notification is no plain send, because it takes an id and has no entry. Neither is a notification to
/// accounts: a personal space asks for room in its mailbox, and a direct message tells its receivers.
struct PlainSend {
  fileprivate let space: SpaceID
  fileprivate let audience: Audience
  fileprivate let records: SendRecords
  fileprivate let content: ContentText
  /// The content that a repetition is compared by. A callback may have made another content of it.
  fileprivate let given: ContentText
  fileprivate let dedupe: DedupeField?

  /// Nil if the transaction does anything else.
  init?(_ transaction: Transaction) {
    guard transaction.announcements.count == 1, transaction.onlyAnnounces, transaction.mailboxCapacity == nil,
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

/// A call of `send` or `send_many` to which sends of one partition are added. `Functions/send.lua` reads its
/// arguments.
struct SendCall {
  /// Each record is a call of Redis. A send that relies on more records, because it names many receivers, goes by `commit`,
  /// which asks for all of them at once.
  static let recordsMax = 4
  /// The approximate size of the arguments of a send without its content and its records.
  private static let usualBytes = 256

  /// Sends to one space, one after the other, that rely on the same records and have the same audience.
  private typealias Section = Range<Int>

  private var sends: [PlainSend] = []
  private var sections: [Section] = []
  /// The dedupe fields of the sends, each once.
  private var fields: [DedupeField] = []
  /// The approximate size of the arguments.
  private(set) var byteCount = 0

  /// - Returns: false if the call has a send of the same sender to the same place under the same name. Nothing is added
  ///   then, because the function tells by what other calls have done which send is the first.
  mutating func add(_ send: PlainSend) -> Bool {
    if let field = send.dedupe {
      // There are 128 at most, and to look through them costs less than a set.
      if fields.contains(field) { return false }
      fields.append(field)
    }
    if let last = sections.last, sends[last.lowerBound].shares(with: send) {
      sections[sections.count - 1] = last.lowerBound..<last.upperBound + 1
    } else {
      sections.append(sends.count..<sends.count + 1)
      byteCount += send.records.sharedBytes
    }
    sends.append(send)
    byteCount += send.content.bytes.count + (send.records.sender?.text.utf8.count ?? 0) + Self.usualBytes
    return true
  }

  /// Writes the call into the connection's output buffer.
  /// - Parameters:
  ///   - isGuarded: as in ``RedisLayout/append(_:in:isGuarded:to:)``.
  ///   - limits: the limits that the functions need.
  func write(
    to output: OutputBuffer, in partition: Partition, _ layout: RedisLayout, isGuarded: Bool, limits: String
  ) {
    let isOne = sends.count == 1
    output.append(RedisLayout.callName) { command in
      layout.append(isOne ? .send : .sendMany, in: partition, isGuarded: isGuarded, to: &command)
      if isOne {
        command.append(joining: limits, " ", sends[0].records.shape, "")
      } else {
        command.append(limits)
      }
      for section in sections { append(section, to: &command) }
      if !fields.isEmpty { appendNames(to: &command) }
      guard !isOne else { return }
      for section in sections {
        command.append("\(section.count) \(sends[section.lowerBound].records.shape)")
      }
      command.append("\(sections.count) \(fields.isEmpty ? 0 : sends.count)")
    }
  }

  private func append(_ section: Section, to command: inout RedisCommand) {
    let first = sends[section.lowerBound]
    command.append(first.space.key)
    command.append(first.audience.text)
    command.append(first.records.settings)
    for record in first.records.others {
      command.append(record.address.table.name)
      command.append(record.address.field)
      command.append(record.text)
    }
    for index in section { command.append(sends[index].content.bytes) }
    for index in section {
      guard let sender = sends[index].records.sender else { continue }
      command.append(sender.field)
      command.append(sender.text)
    }
  }

  /// Appends the fields by which each send is recognised, and then the fingerprints of their contents.
  private func appendNames(to command: inout RedisCommand) {
    for index in sends.indices {
      if let field = sends[index].dedupe { command.append(field) } else { command.append("") }
    }
    for index in sends.indices {
      if sends[index].dedupe == nil {
        command.append("")
      } else {
        command.append(SendFingerprint(sends[index].given).text)
      }
    }
  }

  /// The limits that the functions need, in the form in which they read them.
  static func text(_ limits: Limits) -> String {
    let numbers = [
      limits.dedupeWindowMilliseconds, Int64(limits.entriesPerSpace), Int64(limits.subscriptionThreshold),
      limits.retentionMilliseconds,
    ]
    return numbers.map(String.init).joined(separator: " ")
  }
}

extension PlainSend {
  /// True if both can be in one section.
  fileprivate func shares(with other: PlainSend) -> Bool {
    space == other.space && audience == other.audience && records.shares(other.records)
  }
}

/// The records that a send relies on, grouped by what the functions do with them.
private struct SendRecords {
  typealias Record = (address: RecordAddress, text: String)

  /// `*` if the send relies on no settings.
  private(set) var settings = "*"
  /// A record of the roster: the sender's, unless receivers are named.
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

  /// The length of the records that a section shares.
  var sharedBytes: Int { others.reduce(settings.utf8.count) { $0 + $1.text.utf8.count } }

  /// Whether there is a sender's record, and how many others there are, in the form in which the functions read it.
  var shape: String { Self.shapes[sender == nil ? 0 : 1][others.count] }

  private static let shapes = (0...1).map { senders in
    (0...SendCall.recordsMax).map { "\(senders) \($0)" }
  }

  /// True if a send that relies on the other records can be in the same section: all records except the
  /// sender's are equal.
  func shares(_ other: SendRecords) -> Bool {
    settings == other.settings && (sender == nil) == (other.sender == nil)
      && others.count == other.others.count
      && zip(others, other.others).allSatisfy { $0.address == $1.address && $0.text == $1.text }
  }
}
