import BelfryBytes

/// The place of a consumer in its feed: for every partition, the id up to which it has been served.
///
/// Ids are strictly ordered within a partition and only nearly so across partitions, so one id is not enough.
/// Neither is a time: when a clock steps forward and back, a time would skip entries that are appended
/// afterwards. So a cursor has a position in each partition in which the account has spaces. A keyspace has
/// few enough partitions to keep this short.
///
/// A lagging space is one that the index learned of after the consumer was served a later id of the same
/// partition, for example since the broker that committed the join died before relaying it. Until the
/// consumer has caught up with it, such a space has a position of its own.
package struct FeedCursor: Sendable, Hashable {
  /// The most lagging spaces at once. Each adds some forty characters to every event's id. Further ones are
  /// taken into account after these are caught up with.
  package static let laggingLimit = 12
  /// The most bytes of a cursor's text in a keyspace of so many partitions.
  package static func textBytesMost(in partitions: Partitions) -> Int {
    idBytesMost * partitions.count + textBytesBesidePlaces
  }

  /// The version, the history, the position in the index, the change of preferences, and a dozen lagging spaces with names of
  /// 64 characters.
  private static let textBytesBesidePlaces = 1_152
  /// The most bytes of a cursor's text in any keyspace.
  static let textLimitBytes = idBytesMost * Partition.limit + textBytesBesidePlaces

  package private(set) var places = FeedPlaces()
  /// Up to this id of the account's partition, what the index learned was taken into account. It is not the position in
  /// that partition: it advances when a scan begins, while earlier entries of the personal space are yet to be served.
  package private(set) var indexed = MessageID.zero
  /// The history that the positions belong to; empty if unknown. After the store came back without its last writes, it
  /// tells ids that were served before from ids that were allotted since.
  package private(set) var history = ""
  /// The latest change of the account's preferences by which the client was shown what it has, if it is later than
  /// ``indexed``; otherwise zero. A preference that ends by itself leaves no id in the account's partition. So without this,
  /// each client that comes back before the next id there would be shown everything again.
  package private(set) var preferred = MessageID.zero
  private var rendered = RenderedCursor()

  package init() {}

  package var positions: [MessageID] { places.positions }
  package var lagging: [SpaceID: MessageID] { places.lagging }

  package mutating func takeIntoAccount(indexThrough id: MessageID) {
    indexed = max(indexed, id)
    rendered.forget()
  }

  package mutating func takeIntoAccount(preferencesSince change: MessageID) {
    let next = change > indexed ? change : .zero
    guard next != preferred else { return }
    preferred = next
    rendered.forget()
  }

  package mutating func takeIntoAccount(history: String) {
    guard history != self.history else { return }
    self.history = history
    rendered.forget()
  }

  /// Up to this id everything in the space was served.
  package func position(in space: SpaceID, _ partitions: Partitions) -> MessageID {
    places.position(in: space, partitions)
  }

  /// Up to this id everything in the partition was served, except for lagging spaces; zero if nothing was.
  package func position(in partition: Partition, _ partitions: Partitions) -> MessageID {
    places.position(in: partition, partitions)
  }

  /// Takes an entry as served. Entries of a partition come in the order of their ids, except for those of a
  /// lagging space before the position in the partition.
  package mutating func advance(_ space: SpaceID, to id: MessageID) {
    if !lagging.isEmpty, let place = lagging[space] {
      places.lagging[space] = max(place, id)
      rendered.forget()
    }
    reach(id)
  }

  /// Advances the position in the id's partition, unless it is already further.
  private mutating func reach(_ id: MessageID) {
    if places.reach(id) { rendered.forget() }
  }

  /// Takes an entry that came live as served.
  /// - Returns: true if it was not served before.
  package mutating func advance(_ space: SpaceID, by step: CursorStep) -> Bool {
    if hasPassed(step, in: space) { return false }
    advance(space, to: step.id)
    return true
  }

  /// True if an entry that came live was served before.
  package func hasPassed(_ step: CursorStep, in space: SpaceID) -> Bool {
    places.hasPassed(step, in: space)
  }

  /// Gives a space a position of its own at `since`, if the position in its partition is later. It lasts until
  /// ``reachAll(_:_:)``, so that a reader that is cut off in between neither repeats nor skips entries. A space that is
  /// lagging already goes back to `since`: nothing after it can have been shown.
  /// - Parameter limit: how many there may be; more than ``laggingLimit`` in a cursor that no client is given.
  /// - Returns: false if there are as many lagging spaces as there may be, and the caller has to try again later.
  package mutating func addLagging(
    _ space: SpaceID, since: MessageID, _ partitions: Partitions, atMost limit: Int = laggingLimit
  ) -> Bool {
    guard since < position(in: space, partitions) else { return true }
    guard lagging.count < limit || lagging[space] != nil else { return false }
    places.lagging[space] = since
    rendered.forget()
    return true
  }

  /// Forgets lagging spaces of partitions without an id here. A client may send any text as a cursor, and places of spaces
  /// that it is not in would never be served: they would keep the room from others for ever.
  package mutating func forgetLagging(outside lastIDs: [Partition: MessageID], _ partitions: Partitions) {
    guard lagging.contains(where: { lastIDs[partitions.holding($0.key)] == nil }) else { return }
    places.lagging = lagging.filter { lastIDs[partitions.holding($0.key)] != nil }
    rendered.forget()
  }

  /// Forgets positions in partitions that the keyspace does not have. A client may send any text as a cursor, and each event
  /// would repeat them in its id.
  package mutating func forgetPlaces(outside partitions: Partitions) {
    guard positions.contains(where: { $0.partitionNumber >= partitions.count }) else { return }
    places.removePositions { $0.partitionNumber >= partitions.count }
    rendered.forget()
  }

  /// Takes everything up to these ids as served, in all spaces of their partitions: none of them lags any more.
  package mutating func reachAll(_ lastIDs: [Partition: MessageID], _ partitions: Partitions) {
    if !lagging.isEmpty {
      places.lagging = lagging.filter { lastIDs[partitions.holding($0.key)] == nil }
      rendered.forget()
    }
    for id in lastIDs.values { reach(id) }
  }

  /// Goes back in a partition to `id`, since entries that were served after it are lost, or have to be served
  /// again.
  package mutating func goBack(to id: MessageID, in partition: Partition, _ partitions: Partitions) {
    rendered.forget()
    // An id from before the keyspace grew names another partition. That one goes back, too: for the entries from before,
    // both have one position.
    places.removePositions {
      $0.partitionNumber == partition.number || ($0.partitionNumber == id.partitionNumber && $0 > id)
    }
    reach(id)
    for (space, place) in lagging where place > id && partitions.holding(space) == partition {
      places.lagging[space] = id
    }
  }

  /// Marks that the client has been told to drop its notifications, and that the remaining ones are being
  /// shown again. A client that comes back with such a cursor is told so once more, even if the account's
  /// preferences have changed again.
  package mutating func startOver() {
    rendered.forget()
    (indexed, preferred) = (Self.startingOver, .zero)
  }

  package var isStartingOver: Bool { indexed == Self.startingOver }

  /// An id before any that an index can have.
  private static let startingOver = MessageID(raw: 1)

  /// Goes back in the account's index to `id`.
  package mutating func goBack(indexedTo id: MessageID) {
    rendered.forget()
    indexed = min(indexed, id)
  }
}

// MARK: - The text a client hands back

// `2<history>[.<id>]*[_<indexed>[-<preferred>]][~<space key>*<id>]*`, ids in base 36. Opaque to clients, readable by any broker, and
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

  /// Renders the parts that are not rendered yet. Called before ``write(to:after:)``. From one event to the
  /// next mostly only the last position changes, so the rest is rendered once for many events.
  package mutating func render() {
    guard rendered.isForgotten else { return }
    var before = [Self.version] + Array(history.utf8)
    var after: [UInt8] = []
    for id in positions.dropLast() { Self.append(Self.idMark, id, to: &before) }
    if indexed > .zero || preferred > .zero { Self.append(UInt8(ascii: "_"), indexed, to: &after) }
    if preferred > .zero { Self.append(UInt8(ascii: "-"), preferred, to: &after) }
    for (space, id) in lagging.sorted(by: { $0.key.key < $1.key.key }) {
      after.append(UInt8(ascii: "~"))
      after += space.key.utf8
      Self.append(UInt8(ascii: "*"), id, to: &after)
    }
    rendered = RenderedCursor(before: before, after: after)
  }

  /// Appends ``text``, as bytes. Each event of a stream ends with a cursor, and made of strings it cost more
  /// than all the rest of the event.
  /// - Parameter step: the step by which the cursor has just advanced; nil if by none.
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

  /// The number of bytes that ``write(to:after:)`` appends.
  package func byteCount(after step: CursorStep?) -> Int {
    let beside = rendered.before.count + rendered.after.count
    guard let last = positions.last else { return beside }
    let digits = step.flatMap { $0.id == last ? $0.idText.count : nil }
    return beside + 1 + (digits ?? Base36.digitCount(of: last.raw.magnitude))
  }

  /// The most bytes that ``write(to:after:)`` appends.
  package var byteCountMost: Int { rendered.before.count + Self.idBytesMost + rendered.after.count }

  /// The bytes of a mark and an id: 2^63 has 13 digits in base 36.
  static let idBytesMost = 14

  /// Appends the mark, and the id in base 36.
  private static func append(_ mark: UInt8, _ id: MessageID, to text: inout [UInt8]) {
    text.append(mark)
    text.append(addingCapacity: idBytesMost) { $0.append(base36: id.raw.magnitude) }
  }

  /// Nil if `text` was not made by ``text``.
  package init?(text: String) {
    guard text.utf8.count <= Self.textLimitBytes else { return nil }
    let parts = text.parts(between: "~")
    let served = parts[0].parts(between: "_")
    let words = served[0].parts(between: ".")
    guard served.count <= 2, words[0].utf8.first == Self.version, words.count <= Partition.limit + 1,
      parts.count <= Self.laggingLimit + 1, let history = Self.history(words[0].utf8.dropFirst())
    else { return nil }
    self.init()
    self.history = history
    for word in words.dropFirst() {
      guard let id = Self.id(word) else { return nil }
      reach(id)
    }
    if served.count == 2 {
      let known = served[1].parts(between: "-")
      guard known.count <= 2, let indexed = Self.id(known[0]) else { return nil }
      takeIntoAccount(indexThrough: indexed)
      if known.count == 2 {
        guard let change = Self.id(known[1]) else { return nil }
        takeIntoAccount(preferencesSince: change)
      }
    }
    for part in parts.dropFirst() {
      let pair = part.parts(between: "*")
      guard pair.count == 2, let space = SpaceID(key: pair[0]), let id = Self.id(pair[1]) else { return nil }
      places.lagging[space] = id
    }
  }

  /// The name of a history in the text of a cursor. Nil if no history has this name.
  static func history(_ word: Substring.UTF8View.SubSequence) -> String? {
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

/// The text of a cursor before and after its last position. Not a part of the cursor's value: cursors are equal whether
/// or not they are rendered.
private struct RenderedCursor: Sendable, Hashable {
  var before: [UInt8] = []
  var after: [UInt8] = []

  /// True if nothing is rendered: a rendered text begins with the version.
  var isForgotten: Bool { before.isEmpty }

  mutating func forget() {
    if isForgotten { return }
    before = []
    after = []
  }

  static func == (_: Self, _: Self) -> Bool { true }
  func hash(into _: inout Hasher) {}
}

/// The id that cursors advance to by a live entry, as number and text.
///
/// The text is rendered once for all consumers: the cursor is the only part of an event that differs between them, and
/// mostly nothing in it but this id changes from one event to the next. Rendering it for each took a third of a delivery.
package struct CursorStep: Sendable {
  package let id: MessageID
  let idText: [UInt8]

  package init(to id: MessageID) {
    self.id = id
    var text: [UInt8] = []
    text.append(addingCapacity: FeedCursor.idBytesMost) { $0.append(base36: id.raw.magnitude) }
    idText = text
  }
}
