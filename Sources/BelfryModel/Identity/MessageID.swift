package import BelfryBytes

/// The id of a notification: `messageServerId` in the HTTP interface. It tells when the notification was sent, in which
/// partition, and in which order.
///
/// ```swift
/// guard let id = MessageID("382949042646683648") else { return }
/// print("sent \(id.unixMilliseconds) ms after 1970")
/// try await client.markRead(upTo: id)
/// ```
///
/// It has 41 bits of milliseconds since 2024-01-01T00:00Z, 10 bits of partition, and 12 bits of sequence. Redis's form of the
/// same id is the stream id `<unix ms>-<partition * 4096 + sequence>`. Shifts and masks turn one into the other, so one number
/// is the id, the place in the log and the time.
///
/// Within a partition ids only grow, also if clocks go back. Across partitions they are ordered by time, but only as well as
/// the clocks of the Redis nodes agree. So code that must be exact never compares ids of two partitions.
public struct MessageID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// 2024-01-01T00:00Z in milliseconds since 1970.
  public static let epochMilliseconds: Int64 = 1_704_067_200_000
  static let timeBits: Int64 = 41
  static let sequenceBits: Int64 = 12
  static let partitionBits: Int64 = 10
  static let lowBits = sequenceBits + partitionBits
  static let sequenceMax: Int64 = 1 << sequenceBits - 1

  /// An id before every id of a notification.
  public static let zero = MessageID(raw: 0)
  /// An id after every id of a notification.
  public static let last = MessageID(raw: .max)

  /// The id as a number.
  public let raw: Int64

  init(raw: Int64) { self.raw = raw }

  /// Nil if the number is negative: the sign bit is never part of an id.
  public init?(_ number: Int64) {
    guard number >= 0 else { return nil }
    raw = number
  }

  /// Reads an id. Nil if the text is not the one canonical form of such a number.
  public init?(_ text: String) {
    guard let number = Int64(canonical: text) else { return nil }
    raw = number
  }

  /// Makes the first id of a millisecond, over all partitions. A time before the epoch gives ``zero``. A time that is too late
  /// for an id gives ``last``.
  public init(firstAtUnixMilliseconds milliseconds: Int64) {
    guard milliseconds > Self.epochMilliseconds else {
      raw = 0
      return
    }
    let elapsed = milliseconds - Self.epochMilliseconds
    raw = elapsed < 1 << Self.timeBits ? elapsed << Self.lowBits : .max
  }

  /// Makes an id from its parts.
  public init(unixMilliseconds: Int64, partition: Partition, sequence: Int64) {
    raw =
      (unixMilliseconds - Self.epochMilliseconds) << Self.lowBits
      | Int64(partition.number) << Self.sequenceBits | sequence
  }

  /// When the notification was sent, in milliseconds since 1970. ``Notification/time`` is exact where ids are ahead
  /// of the clock.
  public var unixMilliseconds: Int64 { (raw >> Self.lowBits) + Self.epochMilliseconds }
  /// The partition that the notification is in.
  public var partition: Partition {
    Partition(unchecked: partitionNumber)
  }
  var partitionNumber: Int { Int(raw >> Self.sequenceBits) & (Partition.limit - 1) }
  /// The order among the ids of the same millisecond and partition.
  public var sequence: Int64 { raw & (1 << Self.sequenceBits - 1) }

  /// The id just before this one, as an exclusive lower bound. For zero it is zero.
  package var predecessor: MessageID { MessageID(raw: max(0, raw - 1)) }

  /// The next id of the same millisecond and partition. Nil if this is the last one.
  package var successor: MessageID? {
    sequence < 1 << Self.sequenceBits - 1 ? MessageID(raw: raw + 1) : nil
  }

  /// The last id of a partition that is not after this one.
  package func last(in partition: Partition) -> MessageID {
    if partition.number == partitionNumber { return self }
    let milliseconds = (raw >> Self.lowBits) - (partition.number > partitionNumber ? 1 : 0)
    guard milliseconds >= 0 else { return .zero }
    let lastSequence = (Int64(partition.number + 1) << Self.sequenceBits) - 1
    return MessageID(raw: milliseconds << Self.lowBits | lastSequence)
  }

  /// The id as decimal digits.
  public var text: String { String(raw) }
  /// The id as decimal digits.
  public var description: String { text }

  /// Compares the numbers.
  public static func < (left: Self, right: Self) -> Bool { left.raw < right.raw }
}

// MARK: - Redis's form

extension MessageID {
  /// `<unix ms>-<partition * 4096 + sequence>`, the id of the entry in its stream. Zero is `0-0`, as the functions write it:
  /// a record that is read and written again must have the same text, or it would seem changed.
  package var streamForm: String {
    switch self {
    case .zero: "0-0"
    case .beforeThisCommit: Self.beforeThisCommitMark
    case .endOfThisCommit: Self.endOfThisCommitMark
    default: "\(unixMilliseconds)-\(raw & (1 << Self.lowBits - 1))"
    }
  }

  /// The stream form as bytes, of an id that was allotted. Each command that reads a log has two.
  package var streamText: DecimalText {
    var text = DecimalText()
    text.prepend(raw & (1 << Self.lowBits - 1))
    text.prepend("-")
    text.prepend(unixMilliseconds)
    return text
  }

  /// Reads the stream form.
  package init?(streamForm text: some StringProtocol) { self.init(streamBytes: ArraySlice(text.utf8)) }

  /// Reads the stream form from bytes, as for every entry and live message. Nil when they are no stream id, or one that a
  /// message id cannot hold. `0-0` is ``zero``.
  package init?(streamBytes bytes: ArraySlice<UInt8>) { self.init(streamBytes: bytes.span) }

  package init?(streamBytes bytes: Span<UInt8>) {
    var dash = 0
    while dash < bytes.count, bytes[dash] != UInt8(ascii: "-") { dash += 1 }
    guard dash < bytes.count, let milliseconds = Int64(digits: bytes.extracting(..<dash)),
      let low = Int64(digits: bytes.extracting((dash + 1)...))
    else { return nil }
    guard milliseconds >= Self.epochMilliseconds else {
      self = .zero
      return
    }
    guard low < 1 << Self.lowBits, milliseconds - Self.epochMilliseconds < 1 << Self.timeBits else {
      return nil
    }
    raw = (milliseconds - Self.epochMilliseconds) << Self.lowBits | low
  }
}

// MARK: - Ids that only the commit can know

extension MessageID {
  /// Stands in a record to be written for "the partition's last id before this commit": a member who
  /// joins in a commit sees that commit's entries and nothing earlier. Only the Redis function knows the
  /// id, so the record carries a mark (a control character, which no JSON and no name contains) and the
  /// function puts the id in its place.
  package static let beforeThisCommit = MessageID(raw: -1)
  /// Likewise "the last id of this commit": the entry that removes a member is the last one they see.
  package static let endOfThisCommit = MessageID(raw: -2)

  package static let beforeThisCommitMark = "\u{1}"
  package static let endOfThisCommitMark = "\u{2}"
}
