import Foundation

/// A seed, and how many steps or inputs to take from it on.
package struct SeededRun: Sendable, Equatable, CustomStringConvertible {
  package var seed: UInt64
  package var count: Int

  package init(seed: UInt64, count: Int) { (self.seed, self.count) = (seed, count) }

  package var description: String { "\(count) from seed \(seed)" }

  /// The seeds of simulations with so many steps each, as many as the run has steps for. The last one is played to its end.
  package func simulationSeeds(stepsEach steps: Int) -> [UInt64] {
    (0..<(count + steps - 1) / steps).map { seed &+ UInt64($0) }
  }
}

/// The seeds that once found something. `Tests/seeds.txt` says how its lines are written.
package enum KeptSeeds {
  package struct Line: Sendable {
    /// `Suite/test`.
    package var test: String
    package var run: SeededRun
  }

  /// A line that cannot be read.
  package struct Malformed: Error, CustomStringConvertible {
    package var line: Int
    package var reason: String
    package var description: String { "Tests/seeds.txt:\(line): \(reason)" }
  }

  /// More would make every run of the tests longer: the one walk that finds it again is enough.
  package static let stepsMax = 5_000

  /// Those of a test, in the order of the file. Lines that cannot be read are left out here; `KeptSeedsTests` fails for them.
  package static func of(_ test: String) -> [SeededRun] { lines.filter { $0.test == test }.map(\.run) }

  package static let (lines, malformed): ([Line], [Malformed]) = {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("seeds.txt")
    guard let text = try? String(contentsOf: path, encoding: .utf8) else {
      return ([], [Malformed(line: 0, reason: "is not there, or is no text")])
    }
    return read(text)
  }()

  package static func read(_ text: String) -> (lines: [Line], malformed: [Malformed]) {
    var (lines, malformed): ([Line], [Malformed]) = ([], [])
    for (index, text) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    where !text.allSatisfy(\.isWhitespace) && !text.hasPrefix("#") {
      do throws(Reason) {
        lines.append(try line(text))
      } catch {
        malformed.append(Malformed(line: index + 1, reason: error.text))
      }
    }
    return (lines, malformed)
  }

  private struct Reason: Error { var text: String }

  private static func line(_ text: Substring) throws(Reason) -> Line {
    let fields = text.split(separator: "|", omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    guard fields.count == 5 else { throw Reason(text: "has \(fields.count) fields where five are expected") }
    if let empty = fields.firstIndex(of: "") {
      throw Reason(text: "field \(empty + 1) is empty: what is not known is a dash")
    }
    guard fields[0].split(separator: "/").count == 2 else {
      throw Reason(text: "\(fields[0]) does not name a test as Suite/test")
    }
    guard let seed = UInt64(fields[1]) else { throw Reason(text: "\(fields[1]) is no seed") }
    guard let count = Int(fields[2]), 1...stepsMax ~= count else {
      throw Reason(text: "\(fields[2]) is no number of steps from 1 to \(stepsMax)")
    }
    return Line(test: fields[0], run: SeededRun(seed: seed, count: count))
  }
}
