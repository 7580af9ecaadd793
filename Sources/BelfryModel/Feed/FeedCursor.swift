import BelfryBytes

/// Where a consumer stands in its feed: for every partition, the id up to which it has been served.
///
/// Ids are strictly ordered within a partition and only nearly so across them, so one number is not enough, and
/// neither is a time: a clock that steps forward would pass over what is appended once it has stepped back. So the
/// cursor has a place for each partition that the account has spaces in, and says nothing about time. A keyspace
/// has few enough partitions that this stays short, however many spaces an account is in.
///
/// `lagging` covers the one case that partitions cannot: the account's index learns of a space only after
/// the consumer has already been served a later id of the same partition (the broker that committed the
/// join died, and another relayed it). Until it has caught up, such a space has a place of its own.
package struct FeedCursor: Sendable, Hashable {
  /// Lagging spaces at once: each costs some forty characters of every event's id. What an index has learned beyond
  /// that is taken into account once these have caught up.
  package static let laggingLimit = 12
  /// The most that the text of a cursor has in a keyspace of so many partitions: a place in each, and the lagging spaces.
  package static func textBytesMost(in partitions: Partitions) -> Int {
    idBytesMost * partitions.count + textBytesBesidePlaces
  }

  /// The version, the history, how far the index was taken into account, and a dozen names of 64 characters with an id.
  private static let textBytesBesidePlaces = 1_024
  /// The same in any keyspace.
  static let textLimitBytes = idBytesMost * Partition.limit + textBytesBesidePlaces

  /// The place in each partition that has one, ascending. An id names its partition, so a list is a map; and
  /// mostly it is the last that moves. A consumer moves and writes its cursor for every notification it is sent,
  /// mostly with one or two ids here.
  package private(set) var positions: [MessageID] = []
  package private(set) var lagging: [SpaceID: MessageID] = [:]
  /// Up to this id of the account's own partition, what its index learned has been taken into account.
  /// It cannot be the place in that partition: it moves when a scan begins, and there may be entries of
  /// the account's own before it that are yet to be served.
  package private(set) var indexed = MessageID.zero
  /// In which history of the store's data all this was passed; empty if that is unknown. Where the store comes back
  /// without its last writes, it tells what was passed before from what has been given since.
  package private(set) var history = ""
  private var rendered = RenderedCursor()

  package init() {}

  package mutating func takeIntoAccount(indexThrough id: MessageID) {
    indexed = max(indexed, id)
    rendered.forget()
  }

  package mutating func takeIntoAccount(history: String) {
    guard history != self.history else { return }
    self.history = history
    rendered.forget()
  }

  /// Served up to here, in this space of the partition.
  package func position(in space: SpaceID, of partition: Partition) -> MessageID {
    if !lagging.isEmpty, let place = lagging[space] { return place }
    return position(in: partition)
  }

  /// Zero: nothing has been served there.
  package func position(in partition: Partition) -> MessageID {
    positions.last { $0.partitionNumber == partition.number } ?? .zero
  }

  /// The entry has been served, or need not be. Entries of one partition are served in the order of
  /// their ids, but for those of a lagging space that lie before the partition's place.
  package mutating func advance(_ space: SpaceID, to id: MessageID) {
    if !lagging.isEmpty, let place = lagging[space] {
      lagging[space] = max(place, id)
      rendered.forget()
    }
    reach(id)
  }

  /// Served up to here in the id's partition, unless further already.
  private mutating func reach(_ id: MessageID) {
    guard id > .zero else { return }
    if let last = positions.lastIndex(where: { $0.partitionNumber == id.partitionNumber }) {
      guard id > positions[last] else { return }
      // Nearly always, and nothing has to move.
      if last == positions.count - 1 { return positions[last] = id }
      positions.remove(at: last)
    }
    rendered.forget()
    let place = positions.lastIndex { $0 < id }.map { $0 + 1 } ?? 0
    positions.insert(id, at: place)
  }

  /// An entry that came live.
  /// - Returns: whether it is still to be served.
  package mutating func advance(_ space: SpaceID, by step: CursorStep) -> Bool {
    guard step.id > position(in: space, of: step.id.partition) else { return false }
    advance(space, to: step.id)
    return true
  }

  /// A space joined at `since`, of which the consumer learns only now. Kept until ``reachAll(_:)``, so
  /// that a reader cut off in between neither repeats nor skips any of it. A lagging space may be joined anew before it
  /// is settled: nothing after `since` can have been shown, but it may have been passed.
  /// - Returns: false if there is no room for another lagging space, and the caller must come again with this one.
  package mutating func addLagging(_ space: SpaceID, of partition: Partition, since: MessageID) -> Bool {
    guard since < position(in: space, of: partition) else { return true }
    guard lagging.count < Self.laggingLimit || lagging[space] != nil else { return false }
    lagging[space] = since
    rendered.forget()
    return true
  }

  /// Everything up to these ids has been served, in all spaces of their partitions.
  package mutating func reachAll(_ lastIDs: [Partition: MessageID], _ partitions: Partitions) {
    if !lagging.isEmpty {
      lagging = lagging.filter { lastIDs[partitions.holding($0.key)] == nil }
      rendered.forget()
    }
    for id in lastIDs.values { reach(id) }
  }

  /// Back to a place before where it stands, in the partition that both ids name: what was served since is no more,
  /// or is to be served again.
  package mutating func goBack(to id: MessageID, in partition: Partition, _ partitions: Partitions) {
    rendered.forget()
    positions.removeAll { $0.partitionNumber == partition.number }
    reach(id)
    for (space, place) in lagging where place > id && partitions.holding(space) == partition {
      lagging[space] = id
    }
  }

  /// The same for what its account's index learned.
  package mutating func goBack(indexedTo id: MessageID) {
    rendered.forget()
    indexed = min(indexed, id)
  }
}

// MARK: - The text a client hands back

// `2<history>[.<id>]*[_<indexed>][~<space key>*<id>]*`, ids in base 36. Opaque to clients, readable by any broker, and
// made of characters that need no escape in a header or a query. A listed id names its own partition.
extension FeedCursor {
  private static var version: UInt8 { UInt8(ascii: "2") }
  private static var idMark: UInt8 { UInt8(ascii: ".") }

  package var text: String {
    var copy = self
    copy.render()
    var text: [UInt8] = []
    text.append(addingCapacity: copy.byteCountMost) { copy.write(to: &$0) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Renders what is not rendered yet; before ``write(to:after:)``. From one event to the next, nearly always, nothing
  /// but the latest place changes, so the rest is rendered once for many.
  package mutating func render() {
    guard rendered.isForgotten else { return }
    var before = [Self.version] + Array(history.utf8)
    var after: [UInt8] = []
    for id in positions.dropLast() { Self.append(Self.idMark, id, to: &before) }
    if indexed > .zero { Self.append(UInt8(ascii: "_"), indexed, to: &after) }
    for (space, id) in lagging.sorted(by: { $0.key.key < $1.key.key }) {
      after.append(UInt8(ascii: "~"))
      after += space.key.utf8
      Self.append(UInt8(ascii: "*"), id, to: &after)
    }
    rendered = RenderedCursor(before: before, after: after)
  }

  /// Appends ``text``. As bytes, since each notification that a stream is sent ends with it: made of strings, it
  /// cost more than all the rest.
  /// - Parameter step: by which it has just advanced, if it has.
  package func write(to text: inout OutputSpan<UInt8>, after step: CursorStep? = nil) {
    text.append(contentsOf: rendered.before)
    if let last = positions.last {
      text.append(Self.idMark)
      if let step, step.id == last {
        text.append(contentsOf: step.idText)
      } else {
        text.append(base36: last.raw.magnitude)
      }
    }
    text.append(contentsOf: rendered.after)
  }

  /// What ``write(to:after:)`` needs room for.
  package var byteCountMost: Int { rendered.before.count + Self.idBytesMost + rendered.after.count }

  /// A mark and an id: 2^63 has 13 digits in base 36.
  static let idBytesMost = 14

  /// The mark, and the id in base 36.
  private static func append(_ mark: UInt8, _ id: MessageID, to text: inout [UInt8]) {
    text.append(mark)
    text.append(addingCapacity: idBytesMost) { $0.append(base36: id.raw.magnitude) }
  }

  /// Nil when `text` was not made by ``text``.
  package init?(text: String) {
    guard text.utf8.count <= Self.textLimitBytes else { return nil }
    let parts = text.parts(between: "~")
    let places = parts[0].parts(between: "_")
    let words = places[0].parts(between: ".")
    guard places.count <= 2, words[0].utf8.first == Self.version, words.count <= Partition.limit + 1,
      parts.count <= Self.laggingLimit + 1, let history = Self.history(words[0].utf8.dropFirst())
    else { return nil }
    self.init()
    self.history = history
    for word in words.dropFirst() {
      guard let id = Self.id(word) else { return nil }
      reach(id)
    }
    if places.count == 2 {
      guard let indexed = Self.id(places[1]) else { return nil }
      takeIntoAccount(indexThrough: indexed)
    }
    for part in parts.dropFirst() {
      let pair = part.parts(between: "*")
      guard pair.count == 2, let space = SpaceID(key: pair[0]), let id = Self.id(pair[1]) else { return nil }
      lagging[space] = id
    }
  }

  private static func history(_ word: Substring.UTF8View.SubSequence) -> String? {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
    guard word.count <= historyBytesMost, word.allSatisfy({ digits.contains($0) || letters.contains($0) })
    else { return nil }
    return String(decoding: Array(word), as: UTF8.self)
  }

  private static let historyBytesMost = 8

  private static func id(_ word: Substring) -> MessageID? {
    guard let first = word.utf8.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-") else {
      return nil
    }
    return Int64(word, radix: 36).flatMap { MessageID($0) }
  }
}

/// The text of a cursor before and after its latest place. It says nothing that the cursor does not, so two cursors are
/// the same whatever of them has been rendered.
private struct RenderedCursor: Sendable, Hashable {
  var before: [UInt8] = []
  var after: [UInt8] = []

  /// The text begins with the version.
  var isForgotten: Bool { before.isEmpty }

  mutating func forget() {
    if isForgotten { return }
    before = []
    after = []
  }

  static func == (_: Self, _: Self) -> Bool { true }
  func hash(into _: inout Hasher) {}
}
