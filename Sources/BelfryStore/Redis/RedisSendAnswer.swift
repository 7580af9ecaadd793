import BelfryModel

/// The answer of `send` and `send_many`, line by line: the partition's last id before them, and when they were appended if
/// ids do not say it; then for each send its id, of several whose ids follow one another the first one's and how many there are, or
/// why there is none.
struct SendAnswer {
  private var lines: Words
  private var before: MessageID?
  private let appendedAt: Int64?
  /// How many more the last line is about.
  private var following = 0

  init(_ answer: ArraySlice<UInt8>) {
    lines = Words(rest: answer, separator: UInt8(ascii: "\n"))
    var words = Words(rest: lines.next() ?? [])
    before = words.next().flatMap { MessageID(streamBytes: $0) }
    appendedAt = words.next().flatMap { Int64(digits: $0) }
  }

  /// What became of the next one; nil when the line is none of an answer, which is then given as it is.
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
