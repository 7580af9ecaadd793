import BelfryModel
import Foundation
import TestKit
import Testing

@testable import BelfryInterface
@testable import BelfryServer

@Suite struct JSONParserTests {
  private func problem(with bytes: [UInt8]) -> Refusal? {
    do {
      _ = try JSONParser.value(of: bytes)
      return nil
    } catch {
      return error
    }
  }

  static let values: [(String, JSONValue)] = [
    ("null", .null), (" true ", true), ("\t\r\nfalse\n", false), ("0", 0), ("-0", 0),
    ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
    ("1.5", .number(1.5)), ("1e3", .integer(1000)), ("1.0", .integer(1)),
    ("9007199254740992.0", .integer(9_007_199_254_740_992)),
    ("9007199254740994.0", .number(9_007_199_254_740_994)), ("-1.25E-2", .number(-0.0125)),
    ("0.0", .integer(0)),
    (#""""#, ""), (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{c}\n\r\tz"),
    (#""\u0000\u00e9\uD83D\uDD14""#, "\0é🔔"),
    ("\"é🔔\u{7f}\"", "é🔔\u{7f}"), ("[]", []), ("[ 1 , [2] ]", [1, [2]]), ("{}", [:]),
    (#"{ "a" : 1 , "b":{"c":[]}}"#, ["a": 1, "b": ["c": []]]), (#"{"":1}"#, ["": 1]),
  ]

  @Test(arguments: values)
  func goodValues(text: String, value: JSONValue) throws {
    #expect(try JSONParser.value(of: Array(text.utf8)) == value)
    let written = JSONText.bytes(of: value)
    #expect(try JSONParser.value(of: written) == value)
    #expect(try foundationValue(of: written) == foundationForm(of: value))
  }

  @Test(arguments: [
    "", " ", "nul", "nulll", "True", "NaN", "Infinity", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+",
    "0x10", "1_000", "'a'", "\"", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud83d\"",
    "\"\\ud83d\\u0041\"", "\"\\udd14\"", "\"\n\"", "\"\u{1}\"", "[", "]", "[1", "[1,", "[1,]", "[,1]",
    "[1 2]", "{", "}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}", "{1:1}",
    "{\"a\" 1}", "{\"a\":1 \"b\":2}", "1 2", "{}{}", "\u{feff}{}", "// c\n1",
  ])
  func brokenText(text: String) throws {
    let refused = try #require(problem(with: Array(text.utf8)))
    #expect(refused.code == .invalidField)
    #expect(refused.detail.contains("at byte"))
    #expect(refused.field != "")
  }

  @Test(arguments: [
    (#"{"a":{"b":1,"b":2}}"#, "a.b"), (#"{"a":1,"a":1}"#, "a"), (#"{"a":1,"\u0061":1}"#, "a"),
    (#"[[0],[1,{"x":99999999999999999999}]]"#, "[1][1].x"), (#"{"a":[1,1e999]}"#, "a[1]"),
    ("18446744073709551616", "$"), (#"{"a":tru}"#, "a"),
  ])
  func refusalsNameTheField(text: String, field: String) throws {
    #expect(try #require(problem(with: Array(text.utf8))).field == field)
  }

  @Test(
    arguments: [
      [0xFF], [0x22, 0x80, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
      [0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], [0x22, 0xC3, 0x22],
      [0x7B, 0x22, 0xE2, 0x82, 0x22, 0x3A, 0x31, 0x7D],
    ] as [[UInt8]])
  func notUTF8(bytes: [UInt8]) throws {
    let refused = try #require(problem(with: bytes))
    #expect(refused.field == "$")
    #expect(refused.detail.hasPrefix("is not UTF-8 at byte"))
  }

  @Test(arguments: ["[", "{\"a\":", "[{\"a\":"])
  func deepNestingIsRefusedBeforeTheStackEnds(opening: String) throws {
    let bytes = Array(String(repeating: opening, count: 1 << 20).utf8)
    #expect(
      try #require(problem(with: bytes)).detail == "must not nest deeper than \(JSONParser.depthMax) levels")
  }

  @Test func nestingUpToTheLimitIsRead() throws {
    let depth = JSONParser.depthMax
    let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    #expect(try JSONParser.value(of: Array(text.utf8)).depth == depth)
    #expect(problem(with: Array("[\(text)]".utf8)) != nil)
  }

  @Test func aRangeIsReadAlone() throws {
    let bytes = Array("{}\n{\"a\":1}\nx".utf8)
    #expect(try JSONParser.value(of: bytes, in: 3..<10) == ["a": 1])
  }

  @Test func longNamesAreNotRepeatedWhole() throws {
    let name = String(repeating: "n", count: 100_000)
    let refused = try #require(problem(with: Array("{\"\(name)\":x}".utf8)))
    #expect(try #require(refused.field).count < 100)
  }

  /// The parser answers every input. If it accepts a text, Foundation's decoder reads the same value.
  @Test func mutatedTextNeverCrashes() throws {
    let seeds = [
      #"{"serverId":"1","toAccids":["a","b"],"attach":{"x":[1,2.5,-3e2,null,true]},"body":"é\n🔔"}"#,
      #"[{"a":"\u0041\ud83d\udd14"},[],{},"",0]"#,
    ].map { Array($0.utf8) }
    var generator = SeededGenerator(seed: 11)
    var read = 0
    for round in 0..<20_000 {
      var bytes = seeds[round % seeds.count]
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[index] = .random(in: .min ... .max, using: &generator)
        case 1: bytes.remove(at: index)
        default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &generator)], at: index)
        }
      }
      guard let value = try? JSONParser.value(of: bytes) else { continue }
      read += 1
      #expect(try foundationValue(of: bytes) == foundationForm(of: value))
    }
    #expect(read > 1_000)
  }

  private func foundationValue(of bytes: [UInt8]) throws -> JSONValue {
    try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
  }

  /// To Foundation 1e3 is the integer 1000.
  private func foundationForm(of value: JSONValue) -> JSONValue {
    switch value {
    case .number(let number): Int64(exactly: number).map { .integer($0) } ?? value
    case .array(let elements): .array(elements.map(foundationForm))
    case .object(let members): .object(members.mapValues(foundationForm))
    default: value
    }
  }
}
