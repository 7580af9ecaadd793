/// Entries that Redis keeps in one piece of memory, and trims together. How many fit depends on their bytes, so the bytes are
/// counted as Redis writes them (listpack.c, t_stream.c).
struct StreamNode: Hashable, Sendable {
  let first: StreamID
  private let fieldNames: [Bytes]
  private(set) var entries: [StreamEntry] = []
  private(set) var byteCount: Int
  var deleted = 0

  /// Those that are not deleted.
  var liveCount: Int { entries.count - deleted }
  var last: StreamID { entries.last?.id ?? first }

  init(_ entry: StreamEntry) {
    first = entry.id
    fieldNames = stride(from: 0, to: entry.fields.count, by: 2).map { entry.fields[$0] }
    // A header of 6 bytes and an end, the counts of entries and of deleted ones, the number of fields, the names, and a zero.
    byteCount =
      7 + 3 * Self.size(1) + Self.size(fieldNames.count)
      + fieldNames.reduce(0) { $0 + Self.size($1) }
    append(entry)
  }

  mutating func append(_ entry: StreamEntry) {
    let names = stride(from: 0, to: entry.fields.count, by: 2).map { entry.fields[$0] }
    let hasSameNames = names == fieldNames
    let sequence = Int(truncatingIfNeeded: entry.id.sequence &- first.sequence)
    byteCount += Self.size(hasSameNames ? 2 : 0)
    byteCount += Self.size(Int(entry.id.milliseconds &- first.milliseconds)) + Self.size(sequence)
    for index in stride(from: 1, to: entry.fields.count, by: 2) {
      byteCount += Self.size(entry.fields[index])
    }
    if !hasSameNames { byteCount += Self.size(names.count) + names.reduce(0) { $0 + Self.size($1) } }
    byteCount += Self.size(hasSameNames ? names.count + 3 : 2 * names.count + 4)
    entries.append(entry)
  }

  mutating func delete(at index: Int) {
    entries[index].isDeleted = true
    deleted += 1
  }

  /// The bytes of a text. One that is a number is kept as a number.
  private static func size(_ text: Bytes) -> Int {
    if let number = text.integer { return size(Int(number)) }
    let header = text.count < 64 ? 1 : text.count < 4_096 ? 2 : 5
    return withBackLength(header + text.count)
  }

  private static func size(_ number: Int) -> Int {
    switch number {
    case 0...127: 2
    case -4_096...4_095: 3
    case -32_768...32_767: 4
    case -8_388_608...8_388_607: 5
    case -2_147_483_648...2_147_483_647: 6
    default: 10
    }
  }

  /// Each element ends with its own length, to be read backwards.
  private static func withBackLength(_ bytes: Int) -> Int {
    switch bytes {
    case ...127: bytes + 1
    case ..<16_383: bytes + 2
    case ..<2_097_151: bytes + 3
    case ..<268_435_455: bytes + 4
    default: bytes + 5
    }
  }
}
