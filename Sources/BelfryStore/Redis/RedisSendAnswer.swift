import BelfryModel

/// What `send` and `send_many` answer, line by line: the partition's last id before them, then for each send its id or why
/// there is none.
struct SendAnswer {
  private var lines: Words
  private var before: MessageID?

  init(_ answer: ArraySlice<UInt8>) {
    lines = Words(rest: answer, separator: UInt8(ascii: "\n"))
    before = lines.next().flatMap { MessageID(streamBytes: $0) }
  }

  /// What became of the next one; nil when the line is none of an answer, which is then given as it is.
  mutating func next(of transaction: Transaction) -> (outcome: CommitOutcome?, line: ArraySlice<UInt8>) {
    let line = lines.next() ?? []
    guard let first = line.first, first >= UInt8(ascii: "0"), first <= UInt8(ascii: "9") else {
      return (CommitOutcome(line, of: transaction), line)
    }
    guard let id = MessageID(streamBytes: line), let before else { return (nil, line) }
    self.before = id
    return (.committed(Commit(ids: [id], before: before)), line)
  }
}
