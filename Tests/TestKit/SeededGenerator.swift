import Foundation

/// Random numbers that a seed repeats: SplitMix64. Source: Steele, Lea, Flood, "Fast splittable
/// pseudorandom number generators" (2014).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  /// True once in so many times.
  package mutating func oneIn(_ times: Int) -> Bool { below(times) == 0 }

  package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  /// Each element with an even chance, in their order.
  package mutating func some<Element>(of elements: [Element]) -> [Element] {
    elements.filter { _ in Bool.random(using: &self) }
  }
}

/// The environment's settings for tests that chance drives. Without any of them each run takes the same seed and the same
/// number of steps and inputs, and after that the seeds of `Tests/seeds.txt`.
///
/// | variable | meaning |
/// |---|---|
/// | `BELFRY_SEED` | Repeats a failure: a test takes this seed alone, and of a walk or a simulation one. Failures print it, together with the count that they need. |
/// | `BELFRY_FIRST_SEED` | The first seed of a run, 1 otherwise. A walk of many steps goes on with the seeds that follow. Exploration sets a new one. |
/// | `BELFRY_STEPS` | The steps of each test that walks or simulates, all seeds together. The last walk is taken to its end. |
/// | `BELFRY_FUZZ_INPUTS` | The damaged inputs for each decoder. |
package enum TestEnvironment {
  package static let givenSeed: UInt64? = number("BELFRY_SEED")
  package static let seed: UInt64 = givenSeed ?? number("BELFRY_FIRST_SEED") ?? 1

  /// - Parameter standard: the number of steps if nothing is set.
  package static func steps(or standard: Int) -> Int {
    number("BELFRY_STEPS") ?? (givenSeed == nil ? standard : 1)
  }

  package static func fuzzInputs(or standard: Int) -> Int { number("BELFRY_FUZZ_INPUTS") ?? standard }

  /// The seed of this run, and those that found something in an earlier one; or only the seed that is to be repeated.
  /// - Parameters:
  ///   - test: as `Tests/seeds.txt` names it, `Suite/test`.
  ///   - count: the steps or inputs for the seed of this run.
  package static func runs(of test: String, count: Int) -> [SeededRun] {
    let run = SeededRun(seed: seed, count: count)
    return givenSeed == nil ? [run] + KeptSeeds.of(test).filter { $0 != run } : [run]
  }

  /// The folders of executables, so that a broker started by hand finds the same redis-server as the others.
  package static let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"

  package static func number<Number: LosslessStringConvertible>(_ name: String) -> Number? {
    ProcessInfo.processInfo.environment[name].flatMap { Number($0) }
  }
}
