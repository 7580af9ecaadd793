import SimulatedRedis

/// One step of a history that both Redises live through.
enum Step: Hashable, Sendable {
  case command([Bytes])
  /// A scan with all pages, up to this many elements at a time. The words after the cursor follow.
  case scan([Bytes])
  /// The clock goes on.
  case wait(milliseconds: Int64)

  var text: String {
    switch self {
    case .command(let words): words.map(\.readable).joined(separator: " ")
    case .scan(let words): "all pages of " + words.map(\.readable).joined(separator: " ")
    case .wait(let milliseconds): "wait \(milliseconds) ms"
    }
  }
}

extension Step {
  static func command(_ words: String...) -> Step { .command(words.map { Bytes($0.utf8) }) }
}

/// A difference between the two.
struct Difference: CustomStringConvertible {
  let steps: [Step]
  let real: SimulatedReply
  let simulated: SimulatedReply

  var description: String {
    "after these steps\n  " + steps.map(\.text).joined(separator: "\n  ")
      + "\nRedis answers\n  \(real.text)\nand the simulated one\n  \(simulated.text)"
  }
}
