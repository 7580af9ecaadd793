import BelfryModel
import ModelSamples
import TestKit
import Testing

struct MessageIDTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var raw: Int64
    var unixMilliseconds: Int64
    var partition: Int
    var sequence: Int64
    var stream: String
    var testDescription: String { stream }
  }

  /// Worked out by hand, so that other languages can check their own shifts and masks against them.
  static let rows = [
    Row(raw: 0, unixMilliseconds: 1_704_067_200_000, partition: 0, sequence: 0, stream: "0-0"),
    Row(raw: 1, unixMilliseconds: 1_704_067_200_000, partition: 0, sequence: 1, stream: "1704067200000-1"),
    Row(
      raw: 4_095, unixMilliseconds: 1_704_067_200_000, partition: 0, sequence: 4_095,
      stream: "1704067200000-4095"),
    Row(
      raw: 4_096, unixMilliseconds: 1_704_067_200_000, partition: 1, sequence: 0, stream: "1704067200000-4096"
    ),
    Row(
      raw: 4_194_303, unixMilliseconds: 1_704_067_200_000, partition: 1_023, sequence: 4_095,
      stream: "1704067200000-4194303"),
    Row(
      raw: 4_194_304, unixMilliseconds: 1_704_067_200_001, partition: 0, sequence: 0,
      stream: "1704067200001-0"),
    Row(
      raw: 250_118_091_573_317_639, unixMilliseconds: 1_763_700_000_000, partition: 517, sequence: 7,
      stream: "1763700000000-2117639"),
    Row(
      raw: .max, unixMilliseconds: 3_903_090_455_551, partition: 1_023, sequence: 4_095,
      stream: "3903090455551-4194303"),
  ]

  @Test(arguments: rows)
  func bothFormsSayTheSame(row: Row) throws {
    let id = try #require(MessageID(row.raw))
    #expect(id.unixMilliseconds == row.unixMilliseconds)
    #expect(id.partition.number == row.partition)
    #expect(id.sequence == row.sequence)
    #expect(id.streamForm == row.stream)
    #expect(MessageID(streamForm: row.stream) == id)
    #expect(MessageID(id.text) == id)
    let partition = try #require(Partition(row.partition))
    #expect(
      MessageID(unixMilliseconds: row.unixMilliseconds, partition: partition, sequence: row.sequence) == id)
  }

  @Test func bothFormsRoundTrip() {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    for _ in 0..<10_000 {
      let id = random.oneIn(2) ? random.messageID() : MessageID(Int64(random.next() >> 1)) ?? .zero
      #expect(MessageID(id.text) == id)
      #expect(MessageID(streamForm: id.streamForm) == id, "seed \(TestEnvironment.seed)")
    }
  }

  @Test func idsOfAPartitionOrderAsTheirStreamFormsDo() throws {
    let partition = try #require(Partition(3))
    func id(_ milliseconds: Int64, _ sequence: Int64) -> MessageID {
      MessageID(unixMilliseconds: milliseconds, partition: partition, sequence: sequence)
    }
    let ascending = [id(1_763_700_000_000, 0), id(1_763_700_000_000, 4_095), id(1_763_700_000_001, 0)]
    #expect(ascending == ascending.sorted())
    #expect(Set(ascending).count == 3)
  }

  @Test(arguments: [
    "", "-1", "+1", "007", "00", "-0", " 1", "1 ", "1.0", "0x10", "1e3", "９", "٣",
    "9223372036854775808", "92233720368547758070", String(repeating: "9", count: 10_000),
  ])
  func refusesWhatIsNoDecimalID(text: String) { #expect(MessageID(text) == nil) }

  @Test func refusesNegativeNumbers() {
    #expect(MessageID(Int64(-1)) == nil)
    #expect(MessageID(Int64.min) == nil)
    #expect(MessageID(Int64.max) == .last)
  }

  @Test(arguments: [
    "", "-", "1763700000000", "1763700000000-", "-4096", "1763700000000-4194304", "1763700000000--1",
    "1763700000000-1-1", "3903090455552-0", "99999999999999999999-0", "1763700000000-99999999999999999999",
    "\u{1}", "\u{2}", "abc-0",
    "+1763700000000-0", "1763700000000-+1", "0--1",
  ])
  func refusesWhatIsNoStreamID(text: String) { #expect(MessageID(streamForm: text) == nil) }

  @Test(arguments: ["0-0", "0-1", "1704067199999-4194303", "1704067200000-0"])
  func timesBeforeTheEpochAreZero(text: String) { #expect(MessageID(streamForm: text) == .zero) }

  @Test func marksStandForIdsThatOnlyTheCommitKnows() {
    #expect(MessageID.beforeThisCommit.streamForm == "\u{1}")
    #expect(MessageID.endOfThisCommit.streamForm == "\u{2}")
  }

  @Test(
    arguments: [
      (1_763_700_000_000, "1763700000000-0"), (1_704_067_200_000, "0-0"),
      (0, "0-0"), (-1, "0-0"), (.min, "0-0"),
      (3_903_090_455_551, "3903090455551-0"),
    ] as [(Int64, String)])
  func firstOfAMillisecond(milliseconds: Int64, stream: String) {
    #expect(MessageID(firstAtUnixMilliseconds: milliseconds).streamForm == stream)
  }

  @Test(arguments: [3_903_090_455_552, Int64.max])
  func timesBeyondWhatAnIDHoldsAreAfterEveryID(milliseconds: Int64) {
    #expect(MessageID(firstAtUnixMilliseconds: milliseconds) == .last)
  }

  @Test(arguments: ["\"250118091573317639\"", "250118091573317639"])
  func readsAStringOrANumberFromJSON(json: String) {
    #expect(RecordJSON.value(MessageID.self, json)?.raw == 250_118_091_573_317_639)
  }

  @Test(arguments: ["-1", "\"-1\"", "1.5", "true", "null", "\"\"", "9223372036854775808", "[1]"])
  func refusesOtherJSON(json: String) { #expect(RecordJSON.value(MessageID.self, json) == nil) }

  @Test func writesAStringToJSON() throws {
    #expect(try RecordJSON.text(MessageID.last) == "\"9223372036854775807\"")
  }
}
