import BelfryModel
import ModelSamples
import TestKit
import Testing

struct FeedCursorTests {
  static let server = SpaceID.server(77)
  static let partition = server.partition
  /// An id of the server's own partition.
  static func id(_ milliseconds: Int64, _ partition: Partition = partition) -> MessageID {
    MessageID(unixMilliseconds: 1_763_700_000_000 + milliseconds, partition: partition, sequence: 0)
  }

  @Test func aNewCursorStandsAtTheBeginning() {
    let cursor = FeedCursor()
    #expect(cursor.position(in: Self.server, .standard) == .zero)
    #expect(cursor.indexed == .zero)
    #expect(cursor.text == "2")
  }

  /// Whether there was room.
  private func admit(_ space: SpaceID, since: MessageID, to cursor: inout FeedCursor) -> Bool {
    cursor.addLagging(space, since: since, .standard)
  }

  @Test func advancingIsPerPartitionAndNeverBack() {
    let ann = SpaceID.personal("ann")
    var cursor = FeedCursor()
    cursor.advance(Self.server, to: Self.id(9))
    cursor.advance(Self.server, to: Self.id(7))
    #expect(cursor.position(in: Self.partition, .standard) == Self.id(9))
    #expect(cursor.position(in: ann.partition, .standard) == .zero)
    cursor.advance(ann, to: Self.id(3, ann.partition))
    #expect(
      cursor.position(in: ann.partition, .standard) == Self.id(3, ann.partition),
      "whatever the others' clocks say")
    #expect(cursor.position(in: Self.partition, .standard) == Self.id(9))
  }

  @Test func aLateSpaceHasAPlaceOfItsOwnUntilSettled() {
    var cursor = FeedCursor()
    let place = { (cursor: FeedCursor) in cursor.position(in: Self.server, .standard) }
    cursor.advance(Self.server, to: Self.id(9))
    #expect(admit(Self.server, since: Self.id(6), to: &cursor))
    #expect(place(cursor) == Self.id(6))
    #expect(cursor.position(in: Self.partition, .standard) == Self.id(9))
    cursor.advance(Self.server, to: Self.id(8))
    #expect(place(cursor) == Self.id(8))
    #expect(admit(Self.server, since: Self.id(8), to: &cursor))
    #expect(place(cursor) == Self.id(8))
    #expect(admit(Self.server, since: Self.id(7), to: &cursor))
    #expect(place(cursor) == Self.id(7), "of a stay unknown when it was passed")
    cursor.reachAll([Self.partition: Self.id(9)], .standard)
    #expect(cursor.lagging.isEmpty)
    #expect(place(cursor) == Self.id(9))
  }

  @Test func aSpaceThatIsNotLateNeedsNoPlace() {
    var cursor = FeedCursor()
    cursor.advance(Self.server, to: Self.id(5))
    #expect(admit(Self.server, since: Self.id(5), to: &cursor))
    #expect(cursor.lagging.isEmpty)
  }

  /// One more has to come again; one that is there already need not.
  @Test func soManyMayBeLateAtOnce() {
    var cursor = FeedCursor()
    cursor.advance(Self.server, to: Self.id(5))
    let spaces = Self.partition.servers.prefix(FeedCursor.laggingLimit + 1).map { SpaceID.server($0) }
    for space in spaces.dropLast() {
      #expect(admit(space, since: Self.id(3), to: &cursor))
    }
    #expect(!admit(spaces[FeedCursor.laggingLimit], since: Self.id(3), to: &cursor))
    #expect(admit(spaces[0], since: Self.id(2), to: &cursor))
    #expect(cursor.lagging.count == FeedCursor.laggingLimit)
    #expect(FeedCursor(text: cursor.text) == cursor)
  }

  @Test func goingBackIsOfOnePartition() {
    let ann = SpaceID.personal("ann")
    var cursor = FeedCursor()
    cursor.advance(Self.server, to: Self.id(9))
    cursor.advance(ann, to: Self.id(20, ann.partition))
    cursor.goBack(to: Self.id(4), in: Self.partition, .standard)
    #expect(cursor.position(in: Self.partition, .standard) == Self.id(4))
    #expect(cursor.position(in: ann.partition, .standard) == Self.id(20, ann.partition))
    cursor.goBack(to: .zero, in: ann.partition, .standard)
    #expect(cursor.position(in: ann.partition, .standard) == .zero)
  }

  @Test func textRoundTrips() {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    for _ in 0..<5_000 {
      let cursor = random.cursor()
      #expect(FeedCursor(text: cursor.text) == cursor, "seed \(TestEnvironment.seed): \(cursor.text)")
    }
  }

  /// With a place in every partition, and as many lagging spaces as there may be, all with the longest names.
  @Test(arguments: [1, 64, 1_024])
  func theLongestTextIsRead(count: Int) throws {
    let partitions = try #require(Partitions(count: count))
    let bytesMax = FeedCursor.textBytesMost(in: partitions)
    if count == 64 { #expect(bytesMax <= 2_048) }
    var cursor = FeedCursor()
    for partition in partitions.all {
      let id = MessageID(unixMilliseconds: 2_100_000_000_000, partition: partition, sequence: 4_095)
      cursor.reachAll([partition: id], partitions)
    }
    cursor.takeIntoAccount(indexThrough: Self.id(9))
    for number in 0..<FeedCursor.laggingLimit {
      let name = "\(number)" + String(repeating: "x", count: 62)
      let space = try #require(SpaceID(kind: .server, name: name))
      let isAdmitted = cursor.addLagging(space, since: Self.id(1), .standard)
      #expect(isAdmitted)
    }
    #expect(cursor.text.utf8.count <= bytesMax, "\(cursor.text.utf8.count)")
    #expect(FeedCursor(text: cursor.text) == cursor)
  }

  /// The text that a step has rendered for all is the same as each cursor would render.
  @Test func aStepSaysWhatTheCursorSays() throws {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    for _ in 0..<2_000 {
      var cursor = random.cursor()
      let last = cursor.positions.last ?? .zero
      guard last < .last, let id = MessageID(last.raw + 1 + Int64(random.below(1 << 30))) else { continue }
      let step = CursorStep(to: id)
      let isNew = cursor.advance(.server(EntityID(bits: 14)), by: step)
      var text: [UInt8] = []
      cursor.render()
      text.append(addingCapacity: cursor.byteCountMost) { cursor.write(to: &$0, after: step) }
      #expect(String(decoding: text, as: UTF8.self) == cursor.text)
      #expect(isNew || cursor.position(in: id.partition, .standard) >= id)
    }
  }

  /// The ids at which the text gets one digit more.
  @Test func idsAreInBase36() throws {
    var power: Int64 = 1
    for _ in 0..<12 {
      power *= 36
      for number in [power - 1, power] {
        var cursor = FeedCursor()
        cursor.takeIntoAccount(indexThrough: try #require(MessageID(number)))
        #expect(cursor.text == "2_\(String(number, radix: 36))")
      }
    }
  }

  @Test func textIsOfCharactersThatNeedNoEscape() {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    for _ in 0..<500 {
      let text = random.cursor().text
      #expect(text.utf8.allSatisfy { (0x21...0x7e).contains($0) }, "\(text)")
    }
  }

  @Test(arguments: [
    "", "1", "2.", "1.0", "3.0", "2.-1", "2.+1", "2.0.", "2.0..1", "2.zzzzzzzzzzzzzz", "2.0~", "2.0~server:7",
    "2.0~server:7*", "2.0~server:7*-1", "2.0~server:7*1*1", "2.0~guild:7*1", "2.é", "0", "null",
    "2.0 ", "2.0\n", "2.0~~", "2_", "2_1_1", "2" + String(repeating: ".1", count: 1_025),
    "2" + String(repeating: "~server:7*1", count: 13),
  ])
  func whatIsNoCursor(text: String) { #expect(FeedCursor(text: text) == nil) }

  @Test func ofTwoPlacesInAPartitionTheLaterCounts() {
    #expect(FeedCursor(text: "2.5.7") == FeedCursor(text: "2.7"))
  }
}
