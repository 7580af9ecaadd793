import Testing

@testable import BelfryServer

@Suite struct JSONCommentsTests {
  private func blankedOut(_ text: String) -> String {
    String(decoding: JSONComments.blankedOut(Array(text.utf8)), as: UTF8.self)
  }

  @Test func aCommentBecomesAsManySpaces() {
    #expect(blankedOut("{ // all\n}") == "{       \n}")
    #expect(blankedOut("{} // to the end") == "{}              ")
    #expect(blankedOut("1 // é\n2") == "1      \n2")
  }

  @Test func stringsAreLeftAlone() {
    for text in [
      #"{"redis": "redis://host:1"}"#,
      #"{"a": "quote \" // still inside"}"#,
      #"{"a": "backslash \\"}"#,
      #"{"a": "\\\" // inside"}"#,
      "1 / 2",
    ] {
      #expect(blankedOut(text) == text)
    }
    #expect(blankedOut(#"{"a": "\\" // outside"#) == #"{"a": "\\"           "#)
  }

  @Test func aMistakeIsFoundOnItsOwnLine() throws {
    let text = """
      {
        // the first comment
        "loops": oops
      }
      """
    let error = try #require(throws: StartError.self) {
      try ConfigurationFile.parse(Array(text.utf8), path: "belfry.json")
    }
    #expect(error.code == .malformedFile)
    #expect(error.cause.contains("line 3"))
  }

  @Test func aMistakeOfNoFieldIsOneOfTheFile() throws {
    let error = try #require(throws: StartError.self) {
      try ConfigurationFile.parse(Array(#"{"loops": 2,}"#.utf8), path: "belfry.json")
    }
    #expect(error.cause.hasPrefix("it is not JSON: it has no name in quotes"), "\(error.cause)")
  }

  @Test func aGroupThatIsNullIsNotSet() throws {
    let text = #"{"limits": null, "tls": null, "loops": 2}"#
    let values = try ConfigurationFile.parse(Array(text.utf8), path: "belfry.json")
    #expect(values.count == 1)
  }

  @Test(arguments: ["", "[]", "{", "null", "{}}", "\u{0}"])
  func whatIsNotOneObjectIsRefused(text: String) {
    #expect(throws: StartError.self) { try ConfigurationFile.parse(Array(text.utf8), path: "belfry.json") }
  }
}
