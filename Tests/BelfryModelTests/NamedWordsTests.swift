import BelfryModel
import Foundation
import Testing

/// Words that programs are written against are on a page, all of them and no others.
@Suite struct NamedWordsTests {
  private static func page(_ name: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appendingPathComponent("docs/\(name).md"), encoding: .utf8)
  }

  /// The words in backticks.
  private static func words(_ text: some StringProtocol) -> [String] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .compactMap { $0.offset.isMultiple(of: 2) ? nil : String($0.element) }
  }

  @Test func thePageOfCallbacksNamesAllEvents() throws {
    let section = try #require(
      try Self.page("callbacks").split(separator: "### The events\n").last?.split(separator: "\n## ").first)
    let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
    let events = rows.flatMap { row in
      let words = Self.words(row)
      return words.dropFirst().map { "\(words[0]).\($0)" }
    }
    #expect(events.sorted() == CallbackEvent.all.sorted())
  }

  @Test func thePageOfTheInterfaceNamesAllReasons() throws {
    let page = try Self.page("http")
    let paragraph = try #require(
      page.split(separator: "\n\n").first { $0.hasPrefix("`reason` of `explain`") })
    let reasons =
      Visibility.Inclusion.allCases.map(\.rawValue) + Visibility.Exclusion.allCases.map(\.rawValue)
    #expect(Self.words(paragraph).dropFirst(2).sorted() == (reasons + ["trimmed", "notIndexed"]).sorted())
  }
}
