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

/// What the environment sets for a run of random tests.
package enum TestEnvironment {
  /// `BELFRY_SEED` repeats what failed.
  package static let givenSeed: UInt64? = number("BELFRY_SEED")
  /// Without a given one each run is new, unless `BELFRY_FIRST_SEED` says where its seeds begin: a run of CI is told by
  /// its commit, so that the same commit sees the same.
  package static let seed: UInt64 =
    givenSeed ?? number("BELFRY_FIRST_SEED") ?? .random(in: 0...UInt64(UInt32.max))

  /// Where executables are found, so that a broker started by hand finds the same redis-server as the others.
  package static let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"

  package static func number<Number: LosslessStringConvertible>(_ name: String) -> Number? {
    ProcessInfo.processInfo.environment[name].flatMap { Number($0) }
  }
}
