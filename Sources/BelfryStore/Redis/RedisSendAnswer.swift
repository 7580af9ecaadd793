import BelfryModel

/// The answer of `send` and `send_many`, line by line. The first line has the partition's last id before
/// them, and the time at which they were appended if ids do not say it. Then each send has its id, or the
/// reason why it has none. Sends whose ids follow one another share a line: the first one's id, and how many
/// there are.
struct SendAnswer {
  private var lines: Words
  private var before: MessageID?
  private let appendedAt: Int64?
  /// The number of further sends that the last line is about.
  private var following = 0

  init(_ answer: ArraySlice<UInt8>) {
    lines = Words(rest: answer, separator: UInt8(ascii: "\n"))
    var words = Words(rest: lines.next() ?? [])
    before = words.next().flatMap { MessageID(streamBytes: $0) }
    appendedAt = words.next().flatMap { Int64(digits: $0) }
  }

  /// The outcome of the next send; nil if the line is not part of an answer, which is then returned
  /// unchanged.
  mutating func next() -> (outcome: CommitOutcome?, line: ArraySlice<UInt8>) {
    if following > 0, let last = before, let id = last.successor {
      following -= 1
      before = id
      return (.committed(Commit(ids: [id], before: last, appendedAt: appendedAt)), [])
    }
    let line = lines.next() ?? []
    guard let first = line.first, first >= UInt8(ascii: "0"), first <= UInt8(ascii: "9") else {
      return (CommitOutcome(line), line)
    }
    var words = Words(rest: line)
    guard let id = words.next().flatMap({ MessageID(streamBytes: $0) }), let last = before else {
      return (nil, line)
    }
    if let count = words.next() {
      guard let count = Int64(digits: count), count > 1 else { return (nil, line) }
      following = Int(count) - 1
    }
    before = id
    return (.committed(Commit(ids: [id], before: last, appendedAt: appendedAt)), line)
  }
}
