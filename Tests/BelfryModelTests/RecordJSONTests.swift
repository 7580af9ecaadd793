import BelfryModel
import ModelSamples
import TestKit
import Testing

struct RecordJSONTests {
  /// A precondition compares texts, so equal values must be equal texts, however they came about.
  @Test func equalValuesAreEqualTexts() throws {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    for _ in 0..<500 {
      let content = random.content()
      let text = try RecordJSON.text(content)
      let again = try #require(RecordJSON.value(NotificationContent.self, text))
      #expect(again == content, "seed \(TestEnvironment.seed): \(text)")
      #expect(try RecordJSON.text(again) == text)
    }
  }

  @Test func keysAreSortedWhateverOrderTheyCameIn() {
    var keys = (0..<40).map { "key\($0)" }
    var random = SeededGenerator(seed: 1)
    var texts: Set<String> = []
    for _ in 0..<20 {
      keys.shuffle(using: &random)
      var object: JSONObject = [:]
      for key in keys { object[key] = .string(key) }
      texts.insert(RecordJSON.text(JSONValue.object(object)))
    }
    #expect(texts.count == 1)
  }

  @Test func slashesAreNotEscaped() throws {
    #expect(try RecordJSON.text(["a/b"]) == #"["a/b"]"#)
  }

  /// Marks for ids that only the commit knows are control characters, which JSON always escapes.
  @Test func noJSONContainsAMark() {
    let text = RecordJSON.text(JSONValue.string("\u{1}\u{2}"))
    #expect(text == #""\u0001\u0002""#)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func numbersThatJSONCannotSayAreRefused(number: Double) {
    #expect(throws: Refusal.self) { try RecordJSON.text([number]) }
  }

  @Test(
    arguments: [
      ("null", .null), ("true", true), ("1", 1), ("-9223372036854775808", .integer(.min)),
      ("1.5", .number(1.5)), (#""1""#, "1"), ("[]", []), ("{}", [:]),
      (#"{"a":[null,{}]}"#, ["a": [.null, [:]]]),
    ] as [(String, JSONValue)])
  func values(text: String, value: JSONValue) throws {
    #expect(RecordJSON.value(JSONValue.self, text) == value)
    #expect(RecordJSON.text(value) == text)
  }

  @Test(
    arguments: [
      ("6159007199254740993.5", .integer(6_159_007_199_254_740_992)), ("1.0", 1), ("1e3", 1_000),
      ("1e300", .number(1e300)), ("9223372036854775808", .number(9_223_372_036_854_775_808)),
    ] as [(String, JSONValue)])
  func aNumberIsReadOneWayHoweverItIsSpelt(text: String, value: JSONValue) throws {
    #expect(RecordJSON.value(JSONValue.self, text) == value)
    #expect(RecordJSON.value(JSONValue.self, RecordJSON.text(value)) == value)
  }

  @Test(arguments: [("1", 0), ("[]", 1), ("[[],[[]]]", 3), (#"{"a":{"b":1}}"#, 2)])
  func depth(text: String, depth: Int) { #expect(RecordJSON.value(JSONValue.self, text)?.depth == depth) }

  @Test func nestingWithoutEndIsRefusedNotFollowed() {
    let text = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
    #expect(RecordJSON.value(JSONValue.self, text) == nil)
  }
}
