import Foundation
import TestKit
import Testing

struct KeptSeedsTests {
  @Test func everyLineOfTheFileCanBeRead() {
    for line in KeptSeeds.malformed { Issue.record("\(line)") }
  }

  /// A seed of a test that has another name by now would never be taken again.
  @Test func everyLineNamesATestThatReadsIt() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let files = try #require(FileManager.default.enumerator(atPath: folder.path))
    let sources = try files.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
      .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
    for test in Set(KeptSeeds.lines.map(\.test)) {
      let function = test.split(separator: "/")[1]
      #expect(
        sources.contains { $0.contains("\"\(test)\"") && $0.contains("func \(function)(") },
        "no test asks for the seeds of \(test)")
    }
  }

  @Test func aLineSaysWhatToRun() throws {
    let read = KeptSeeds.read("# a comment\n\nA/b | 18446744073709551615 | 400 | found, at last | -\n")
    #expect(read.malformed.isEmpty)
    let line = try #require(read.lines.first)
    #expect(line.test == "A/b" && line.run == SeededRun(seed: .max, count: 400) && read.lines.count == 1)
  }

  @Test(arguments: [
    "A/b | 1 | 400 | found", "A/b | 1 | 400 | found | - | more", "A/b | -1 | 400 | found | -",
    "A/b | x | 400 | found | -", "A/b | 1 | 0 | found | -", "A/b | 1 | 5001 | found | -",
    "A/b | 1 | - | found | -",
    "A | 1 | 400 | found | -", "A/b | 1 | 400 | | -", "A/b | 1 | 400 | found |", "anything",
  ])
  func aLineThatCannotBeReadIsTold(line: String) {
    let read = KeptSeeds.read("# seeds\nA/b | 1 | 400 | found | -\n\(line)\nA/b | 2 | 400 | found | -")
    #expect(read.malformed.map(\.line) == [3] && read.lines.map(\.run.seed) == [1, 2])
    #expect(read.malformed.first?.description.hasPrefix("Tests/seeds.txt:3: ") == true)
  }
}
