/// The history of a simulation in a number, which two runs of a seed have in common, and its last steps.
package struct Trace: Sendable, Hashable, CustomStringConvertible {
  private struct Step: Hashable {
    let time: Int64
    let what: Int
  }

  private static let stepsKept = 50

  package private(set) var steps = 0
  private var digest: UInt64 = 0
  private var latest: [Step] = []

  /// - Parameter what: 0 for something outside of all loops, otherwise the number of the loop.
  mutating func note(_ what: Int, at nanoseconds: Int64) {
    digest = Self.mix(Self.mix(digest ^ UInt64(bitPattern: nanoseconds)) ^ UInt64(what))
    let step = Step(time: nanoseconds, what: what)
    if latest.count < Self.stepsKept { latest.append(step) } else { latest[steps % Self.stepsKept] = step }
    steps += 1
  }

  mutating func note(_ bytes: [UInt8]) {
    // FNV-1a.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    digest = Self.mix(digest ^ hash)
  }

  package var description: String {
    let inOrder = latest.sorted { $0.time < $1.time }
    let words = inOrder.map { "\($0.what)@\(Double($0.time) / 1_000_000_000)" }
    return "\(steps) steps, \(String(digest, radix: 16)): … \(words.joined(separator: " "))"
  }

  /// The last part of SplitMix64. A difference in one bit changes half of all bits.
  private static func mix(_ value: UInt64) -> UInt64 {
    var mixed = value &+ 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
