/// The id of a stream's entry.
struct StreamID: Hashable, Comparable, Sendable {
  var milliseconds: UInt64
  var sequence: UInt64

  static let zero = StreamID(milliseconds: 0, sequence: 0)
  static let max = StreamID(milliseconds: .max, sequence: .max)

  static func < (one: StreamID, other: StreamID) -> Bool {
    (one.milliseconds, one.sequence) < (other.milliseconds, other.sequence)
  }

  var text: Bytes { Bytes("\(milliseconds)-\(sequence)".utf8) }

  /// The next id; nil behind the last one.
  var next: StreamID? {
    if sequence < .max { return StreamID(milliseconds: milliseconds, sequence: sequence + 1) }
    return milliseconds < .max ? StreamID(milliseconds: milliseconds + 1, sequence: 0) : nil
  }

  var previous: StreamID? {
    if sequence > 0 { return StreamID(milliseconds: milliseconds, sequence: sequence - 1) }
    return milliseconds > 0 ? StreamID(milliseconds: milliseconds - 1, sequence: .max) : nil
  }

  init(milliseconds: UInt64, sequence: UInt64) {
    (self.milliseconds, self.sequence) = (milliseconds, sequence)
  }

  /// - Parameter missing: the sequence number of an id that has none.
  init?(_ text: Bytes, missing: UInt64 = 0) {
    guard let dash = text.firstIndex(of: UInt8(ascii: "-")) else {
      guard let milliseconds = text.unsigned else { return nil }
      self.init(milliseconds: milliseconds, sequence: missing)
      return
    }
    guard let milliseconds = Bytes(text[..<dash]).unsigned, let sequence = Bytes(text[(dash + 1)...]).unsigned
    else { return nil }
    self.init(milliseconds: milliseconds, sequence: sequence)
  }
}

/// An entry, with its fields and texts in turn.
struct StreamEntry: Hashable, Sendable {
  let id: StreamID
  let fields: [Bytes]
  /// A deleted entry keeps its place until its node goes.
  var isDeleted = false

  var reply: SimulatedReply { .array([.bulk(id.text), .bulks(fields)]) }
}
