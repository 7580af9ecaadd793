import BelfryModel
import ModelSamples
import Testing

struct FeedCursorTests {
  static let server = SpaceID.server(77)
  /// An id of the server's own partition.
  static func id(_ milliseconds: Int64, _ partition: Partition = server.partition) -> MessageID {
    MessageID(unixMilliseconds: 1_763_700_000_000 + milliseconds, partition: partition, sequence: 0)
  }

  @Test func aNewCursorStandsAtItsBase() {
    let cursor = FeedCursor(base: Self.id(5))
    #expect(cursor.position(in: Self.server) == Self.id(5))
    #expect(cursor.position(in: SpaceID.personal("ann")) == Self.id(5))
  }

  @Test func advancingIsPerPartitionAndNeverBack() {
    var cursor = FeedCursor(base: Self.id(5))
    cursor.advance(Self.server, to: Self.id(9))
    cursor.advance(Self.server, to: Self.id(7))
    #expect(cursor.position(in: Self.server) == Self.id(9))
    #expect(cursor.position(in: SpaceID.personal("ann")) == Self.id(5))
    cursor.advance(.personal("ann"), to: Self.id(3, SpaceID.personal("ann").partition))
    #expect(cursor.position(in: SpaceID.personal("ann")) == Self.id(5))
  }

  @Test func raisingTheBaseDropsWhatItCovers() {
    var cursor = FeedCursor()
    cursor.advance(Self.server, to: Self.id(9))
    cursor.advance(.personal("ann"), to: Self.id(20, SpaceID.personal("ann").partition))
    cursor.raiseBase(to: Self.id(10))
    #expect(cursor.positions.count == 1)
    #expect(cursor.position(in: Self.server) == Self.id(10))
    cursor.raiseBase(to: Self.id(1))
    #expect(cursor.base == Self.id(10))
  }

  @Test func aLateSpaceHasAPlaceOfItsOwnUntilSettled() {
    var cursor = FeedCursor(base: Self.id(5))
    cursor.advance(Self.server, to: Self.id(9))
    cursor.admit(Self.server, since: Self.id(6))
    #expect(cursor.position(in: Self.server) == Self.id(6))
    #expect(cursor.position(in: Self.server.partition) == Self.id(9))
    cursor.advance(Self.server, to: Self.id(8))
    #expect(cursor.position(in: Self.server) == Self.id(8))
    cursor.admit(Self.server, since: Self.id(8))
    #expect(cursor.position(in: Self.server) == Self.id(8))
    cursor.admit(Self.server, since: Self.id(7))
    #expect(cursor.position(in: Self.server) == Self.id(7), "of a stay unknown when it was passed")
    cursor.settle([Self.server.partition: Self.id(9)])
    #expect(cursor.late.isEmpty)
    #expect(cursor.position(in: Self.server) == Self.id(9))
  }

  @Test func aSpaceThatIsNotLateNeedsNoPlace() {
    var cursor = FeedCursor(base: Self.id(5))
    cursor.admit(Self.server, since: Self.id(5))
    #expect(cursor.late.isEmpty)
  }

  @Test func textRoundTrips() {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    for _ in 0..<5_000 {
      let cursor = random.cursor()
      #expect(FeedCursor(text: cursor.text) == cursor, "seed \(TestEnvironment.seed): \(cursor.text)")
    }
  }

  /// What a step has rendered for all is what each would render.
  @Test func aStepSaysWhatTheCursorSays() throws {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    for _ in 0..<2_000 {
      var cursor = random.cursor()
      let last = cursor.positions.last ?? cursor.base
      guard last < .last, let id = MessageID(last.raw + 1 + Int64(random.below(1 << 30))) else { continue }
      let base = random.oneIn(2) ? cursor.base : MessageID(id.raw - Int64(random.below(1 << 40))) ?? .zero
      let step = CursorStep(to: id, base: base)
      let isNew = cursor.advance(.server(EntityID(bits: 14)), by: step)
      var text: [UInt8] = []
      text.append(addingCapacity: cursor.byteCountMost) { cursor.write(to: &$0, after: step) }
      #expect(String(decoding: text, as: UTF8.self) == cursor.text)
      #expect(isNew || cursor.position(in: id.partition) >= id)
    }
  }

  /// Where an id has one digit more.
  @Test func idsAreInBase36() throws {
    var power: Int64 = 1
    for _ in 0..<12 {
      power *= 36
      for number in [power - 1, power] {
        let id = try #require(MessageID(number))
        #expect(FeedCursor(base: id).text == "1.\(String(number, radix: 36))")
      }
    }
    #expect(FeedCursor(base: .last).text == "1.\(String(MessageID.last.raw, radix: 36))")
  }

  @Test func textIsOfCharactersThatNeedNoEscape() {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    for _ in 0..<500 {
      let text = random.cursor().text
      #expect(text.utf8.allSatisfy { (0x21...0x7e).contains($0) }, "\(text)")
    }
  }

  @Test(arguments: [
    "", "1", "1.", "2.0", "1.-1", "1.+1", "1.0.", "1.0..1", "1.zzzzzzzzzzzzzz", "1.0~", "1.0~server:7",
    "1.0~server:7*", "1.0~server:7*-1", "1.0~server:7*1*1", "1.0~guild:7*1", "1.é", "0", "null",
    "1.0 ", "1.0\n", "1.0~~", "1.0" + String(repeating: ".1", count: 20_000),
  ])
  func whatIsNoCursor(text: String) { #expect(FeedCursor(text: text) == nil) }

  @Test func aPlaceAtOrBelowTheBaseSaysNothing() {
    #expect(FeedCursor(text: "1.zz.5.zz") == FeedCursor(text: "1.zz"))
  }
}
