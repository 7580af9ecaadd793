import BelfryBytes

/// Where a consumer stands in its feed: for every partition, the id up to which it has been served.
///
/// Ids are strictly ordered within a partition and only nearly so across them, so one number is not
/// enough. The cursor keeps the last id of each partition that was active lately; all others are covered
/// by `base`, a time old enough that no partition can still append below it. A partition whose last id
/// falls behind `base` is dropped from the list, which keeps the cursor small however many spaces an
/// account is in.
///
/// `late` covers the one case that partitions cannot: the account's index learns of a space only after
/// the consumer has already been served a later id of the same partition (the broker that committed the
/// join died, and another relayed it). Until it has caught up, such a space has a place of its own.
package struct FeedCursor: Sendable, Hashable {
  /// How far clocks of different partitions' Redis nodes may differ, and how long a relay may take,
  /// before ordering by time across partitions could skip an entry.
  package static let safetyWindowMilliseconds: Int64 = 60_000
  /// More partitions than this active within one safety window push the oldest into `base`'s care only
  /// when that is safe; until then the text grows. 1,024 partitions is the natural bound.
  package static let textLimitBytes = 16 * 1_024

  package private(set) var base: MessageID
  /// The last id of each partition that has one above `base`, ascending. An id names its partition, so a
  /// list is a map; and it is the order in which the text lists them and `raiseBase` drops them. A consumer
  /// moves and writes its cursor for every notification it is sent, mostly with one or two ids here.
  package private(set) var positions: [MessageID]
  package private(set) var late: [SpaceID: MessageID]
  private var indexedThrough: MessageID

  package init(base: MessageID = .zero) {
    self.base = base
    positions = []
    late = [:]
    indexedThrough = base
  }

  /// Up to this id of the account's own partition, what its index learned has been taken into account.
  /// It cannot be the place in that partition: it moves when a scan begins, and there may be entries of
  /// the account's own before it that are yet to be served.
  package var indexed: MessageID { max(indexedThrough, base) }

  package mutating func takeIntoAccount(indexThrough id: MessageID) {
    indexedThrough = max(indexedThrough, id)
  }

  /// Served up to here, in this space.
  package func position(in space: SpaceID) -> MessageID {
    late[space] ?? position(in: space.partition)
  }

  package func position(in partition: Partition) -> MessageID {
    positions.last { $0.partitionNumber == partition.number } ?? base
  }

  /// The entry has been served, or need not be. Entries of one partition are served in the order of
  /// their ids, but for those of a late space that lie before the partition's place.
  package mutating func advance(_ space: SpaceID, to id: MessageID) {
    if let place = late[space] { late[space] = max(place, id) }
    reach(id)
  }

  /// Served up to here in the id's partition, unless further already.
  private mutating func reach(_ id: MessageID) {
    guard id > base else { return }
    if let last = positions.lastIndex(where: { $0.partitionNumber == id.partitionNumber }) {
      guard id > positions[last] else { return }
      // Nearly always, and nothing has to move.
      if last == positions.count - 1 { return positions[last] = id }
      positions.remove(at: last)
    }
    let place = positions.lastIndex { $0 < id }.map { $0 + 1 } ?? 0
    positions.insert(id, at: place)
  }

  /// An entry that came live: passes it, and raises the base as ``raiseBase(to:)`` does.
  /// - Returns: whether it is still to be served.
  package mutating func advance(_ space: SpaceID, by step: CursorStep) -> Bool {
    guard step.id > position(in: space) else { return false }
    advance(space, to: step.id)
    raiseBase(to: step.base)
    return true
  }

  /// A space joined at `since`, of which the consumer learns only now. Kept until ``settle(_:)``, so
  /// that a reader cut off in between neither repeats nor skips any of it. A late space may be joined anew before it
  /// is settled: nothing after `since` can have been shown, but it may have been passed.
  package mutating func admit(_ space: SpaceID, since: MessageID) {
    guard since < position(in: space) else { return }
    late[space] = since
  }

  /// Everything up to these ids has been served, in all spaces of their partitions.
  package mutating func settle(_ lastIDs: [Partition: MessageID]) {
    late = late.filter { lastIDs[$0.key.partition] == nil }
    for id in lastIDs.values { reach(id) }
  }

  /// Everything up to `id` has been served in every partition. The caller answers for that: `id` is at
  /// least ``safetyWindowMilliseconds`` older than the moment up to which all logs were read.
  package mutating func raiseBase(to id: MessageID) {
    guard id > base else { return }
    base = id
    indexedThrough = indexed
    positions.removeAll { $0 <= id }
  }
}

// MARK: - The text a client hands back

// `1.<base>[.<id>]*[_<indexed>][~<space key>*<id>]*`, ids in base 36. Opaque to clients, readable by any broker, and
// made of characters that need no escape in a header or a query. A listed id names its own partition.
extension FeedCursor {
  private static var version: UInt8 { UInt8(ascii: "1") }
  private static var idMark: UInt8 { UInt8(ascii: ".") }

  package var text: String {
    var text: [UInt8] = []
    text.append(addingCapacity: byteCountMost) { write(to: &$0) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends ``text``. As bytes, since each notification that a stream is sent ends with it: made of strings, it
  /// cost more than all the rest.
  /// - Parameter step: by which it has just advanced, if it has.
  package func write(to text: inout OutputSpan<UInt8>, after step: CursorStep? = nil) {
    text.append(Self.version)
    Self.write(Self.idMark, base, step, to: &text)
    for id in positions { Self.write(Self.idMark, id, step, to: &text) }
    if indexed > base { Self.write(UInt8(ascii: "_"), indexed, step, to: &text) }
    guard !late.isEmpty else { return }
    for (space, id) in late.sorted(by: { $0.key.key < $1.key.key }) {
      text.append(UInt8(ascii: "~"))
      text.append(contentsOf: space.key)
      Self.write(UInt8(ascii: "*"), id, step, to: &text)
    }
  }

  /// What ``write(to:)`` needs room for.
  package var byteCountMost: Int {
    var count = 1 + (positions.count + 2) * Self.idBytesMost
    for space in late.keys { count += 1 + space.key.utf8.count + Self.idBytesMost }
    return count
  }

  /// A mark and an id: 2^63 has 13 digits in base 36.
  static let idBytesMost = 14

  /// The mark, and the id in base 36.
  private static func write(
    _ mark: UInt8, _ id: MessageID, _ step: CursorStep?, to text: inout OutputSpan<UInt8>
  ) {
    text.append(mark)
    if let rendered = step?.text(of: id) {
      text.append(contentsOf: rendered)
    } else {
      text.append(base36: id.raw.magnitude)
    }
  }

  /// Nil when `text` was not made by ``text``.
  package init?(text: String) {
    guard text.utf8.count <= Self.textLimitBytes else { return nil }
    let parts = text.split(separator: "~", omittingEmptySubsequences: false)
    let places = parts[0].split(separator: "_", omittingEmptySubsequences: false)
    let words = places[0].split(separator: ".", omittingEmptySubsequences: false)
    guard words.count >= 2, places.count <= 2, words[0].utf8.elementsEqual([Self.version]) else { return nil }
    let ids = words.dropFirst().compactMap { Self.id($0) }
    guard ids.count == words.count - 1 else { return nil }
    self.init(base: ids[0])
    for id in ids.dropFirst() { reach(id) }
    if places.count == 2 {
      guard let indexed = Self.id(places[1]) else { return nil }
      takeIntoAccount(indexThrough: indexed)
    }
    for part in parts.dropFirst() {
      let pair = part.split(separator: "*", omittingEmptySubsequences: false)
      guard pair.count == 2, let space = SpaceID(key: pair[0]), let id = Self.id(pair[1]) else { return nil }
      late[space] = id
    }
  }

  private static func id(_ word: Substring) -> MessageID? {
    guard word.first != "+", word.first != "-" else { return nil }
    return Int64(word, radix: 36).flatMap { MessageID($0) }
  }
}
