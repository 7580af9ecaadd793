import BelfryModel
import BelfryStore
import ModelSamples
import TestKit

/// Gives a world that nothing has happened in yet.
typealias MakeWorld = (Cast) async throws -> World

/// A world's answers to each step of a random walk, in lines.
typealias Transcript = [[String]]

/// The step at which two stores gave different answers.
struct Divergence: CustomStringConvertible {
  var step: Int
  var description: String
}

/// The same steps on two stores.
struct Trace {
  /// Short enough to be shrunk soon, long enough for servers to fill and empty a few times.
  static let stepsPerTrace = 400
  /// Between two comparisons of everything.
  static let interval = 25

  let cast = Cast()
  let makeLeft: MakeWorld
  let makeRight: MakeWorld

  /// Nil if they agree on every answer, and on everything that can be asked after every so many steps and
  /// in the end.
  /// - Parameter known: what the left one says to each step, if it has said it before.
  func divergence(_ steps: [Step], compareEvery interval: Int = .max, known: Transcript? = nil) async
    -> Divergence?
  {
    var step = 0
    do {
      let left = known == nil ? try await makeLeft(cast) : nil
      let right = try await makeRight(cast)
      for number in steps.indices {
        step = number
        let here = try await left?.said(steps, number, compareEvery: interval) ?? known?[number] ?? []
        let there = try await right.said(steps, number, compareEvery: interval)
        if let difference = Self.difference(here, there) {
          return Divergence(step: number, description: difference)
        }
      }
      return nil
    } catch {
      return Divergence(step: step, description: "\(error)")
    }
  }

  /// The left world's answers on the random walk of a seed.
  func transcript(seed: UInt64) async throws -> Transcript {
    let steps = Self.steps(seed: seed)
    let world = try await makeLeft(cast)
    var transcript: Transcript = []
    for number in steps.indices {
      transcript.append(try await world.said(steps, number, compareEvery: Self.interval))
    }
    return transcript
  }

  static func steps(seed: UInt64) -> [Step] {
    var random = SeededGenerator(seed: seed)
    // Numbers of their own: the steps of a seed stay the same, however their sends go.
    var coin = SeededGenerator(seed: ~seed)
    return random.steps(stepsPerTrace).map { coin.oneIn(2) ? .byCommit($0) : $0 }
  }

  /// Goes on random walks of seeds that follow one another. Gives the report of the first on which the stores
  /// differ.
  /// - Parameter total: the number of steps in all. The last walk may take more.
  func disagreement(seed: UInt64, steps total: Int) async -> String? {
    print("BELFRY_SEED=\(seed) BELFRY_STEPS=\(total)")
    var (taken, seed) = (0, seed)
    while taken < total {
      let steps = Self.steps(seed: seed)
      if let found = await divergence(steps, compareEvery: Self.interval) {
        return await report(steps, seed: seed, found)
      }
      taken += steps.count
      seed &+= 1
    }
    return nil
  }

  /// Worlds of the oracle, whose clock moves on by so much before each step, or before every so many.
  static func memory(
    startMilliseconds: Int64 = 1_763_700_000_000, tickMilliseconds: Int64, stepsPerTick: Int = 1,
    fault: FaultyStore.Fault? = nil
  ) -> MakeWorld {
    { cast in
      var steps = 0
      let store = MemoryStore(limits: Cast.limits, clockMilliseconds: startMilliseconds)
      let shown = EchoesLast(fault.map { FaultyStore(store, $0) } ?? store)
      return try await World(
        shown, MemoryLiveFeed(store), cast: cast,
        makeMortal: { MortalMemory(shown, store, writes: $0, usesSendFunctions: $1, fault: fault) },
        beforeStep: {
          steps += 1
          if steps % stepsPerTick == 0 { store.clockMilliseconds += tickMilliseconds }
        })
    }
  }

  private static func difference(_ left: [String], _ right: [String]) -> String? {
    guard left != right else { return nil }
    let onlyLeft = Set(left).subtracting(right).sorted()
    let onlyRight = Set(right).subtracting(left).sorted()
    let shown = 5
    return "only the first says\n    " + onlyLeft.prefix(shown).joined(separator: "\n    ")
      + "\n  only the second says\n    " + onlyRight.prefix(shown).joined(separator: "\n    ")
  }

  /// Few of the steps that still tell the stores apart: a prefix that shows a difference in the end, and of
  /// that what cannot be left out, in ever smaller pieces.
  /// - Parameter tries: after so many the rest is left as it is.
  func shrunk(_ steps: [Step], tries: Int = 300) async -> [Step] {
    var triesLeft = tries
    var kept = await shortestPrefix(of: steps)
    var piece = kept.count / 2
    while piece > 0 {
      var start = 0
      while start < kept.count {
        guard triesLeft > 0 else { return kept }
        triesLeft -= 1
        var fewer = kept
        fewer.removeSubrange(start..<min(start + piece, kept.count))
        // Every question is asked once, in the end, which makes a try as cheap as its steps.
        if await divergence(fewer) != nil { kept = fewer } else { start += piece }
      }
      piece /= 2
    }
    return kept
  }

  /// Halves the walk, as if a difference that shows once showed from then on; it mostly does.
  private func shortestPrefix(of steps: [Step]) async -> [Step] {
    var (agreeing, differing) = (0, steps.count)
    while differing - agreeing > 1 {
      let middle = (agreeing + differing) / 2
      if let found = await divergence(Array(steps.prefix(middle))) {
        differing = min(middle, found.step + 1)
      } else {
        agreeing = middle
      }
    }
    return Array(steps.prefix(differing))
  }

  /// The text to print about a random walk that failed.
  func report(_ steps: [Step], seed: UInt64, _ found: Divergence) async -> String {
    let few = await shrunk(steps)
    guard let difference = await divergence(few) else {
      return "BELFRY_SEED=\(seed) BELFRY_STEPS=1: seen after step \(found.step), not in the end: \(found)"
    }
    return "BELFRY_SEED=\(seed) BELFRY_STEPS=1: \(few.count) steps tell the stores apart\n"
      + few.enumerated().map { "  \($0.offset) \($0.element)" }.joined(separator: "\n")
      + "\n  " + difference.description
  }
}
