import ModelSamples
import TestKit
import Testing

/// Seeded mutation fuzzing of every decoder. `BELFRY_FUZZ_SECONDS` is for all of them together, and
/// `BELFRY_SEED` repeats a run: a decoder that traps takes the process along, having said its name and the
/// seed first.
@Suite(.serialized)
struct FuzzTests {
  static let duration: Duration = .seconds(TestEnvironment.number("BELFRY_FUZZ_SECONDS") ?? 10.0)
  /// No decoder takes nearly as long for a few kilobytes, however busy the machine, unless its time grows
  /// out of proportion with the input.
  static let patience: Duration = .seconds(10)
  /// Accepted inputs kept for further damage.
  static let keptMax = 64

  @Test(arguments: FuzzTarget.all)
  func comesBackAndIsRight(target: FuzzTarget) {
    print("BELFRY_SEED=\(TestEnvironment.seed) \(target.name)")
    // Each target has numbers of its own, so that one more row does not change what the others see.
    var random = SeededGenerator(
      seed: target.name.utf8.reduce(TestEnvironment.seed) { $0 &* 31 &+ UInt64($1) })
    var kept = (0..<16).map { _ in target.sample(&random) }
    for sample in kept { expect(target, takes: sample) }

    let deadline = ContinuousClock.now + Self.duration / FuzzTarget.all.count
    var (taken, refused) = (0, 0)
    // Not a turn less than this on a busy machine, so that each run has seen both kinds.
    while ContinuousClock.now < deadline || taken + refused < 500 {
      let input = random.damaged(random.pick(kept), mixedWith: random.pick(kept))
      guard let isTaken = decode(target, input) else { return }
      if isTaken { taken += 1 } else { refused += 1 }
      guard isTaken, !input.isEmpty else { continue }
      if kept.count < Self.keptMax { kept.append(input) } else { kept[random.below(kept.count)] = input }
      // Fresh samples keep it from wandering off into what is long and meaningless.
      if random.oneIn(8) { kept[random.below(kept.count)] = target.sample(&random) }
    }
    #expect(refused > 0, "a decoder that takes anything decodes nothing")
  }

  private func expect(_ target: FuzzTarget, takes sample: [UInt8]) {
    #expect(decode(target, sample) == true, "\(target.name) refuses \(words(sample))")
  }

  /// Nil if something was wrong, which is then recorded.
  private func decode(_ target: FuzzTarget, _ input: [UInt8]) -> Bool? {
    let begin = ContinuousClock.now
    do {
      let isTaken = try target.decode(input)
      guard ContinuousClock.now - begin > Self.patience else { return isTaken }
      Issue.record("\(target.name) takes long for \(words(input))")
    } catch {
      Issue.record("BELFRY_SEED=\(TestEnvironment.seed) \(target.name): \(words(input)): \(error)")
    }
    return nil
  }

  private func words(_ input: [UInt8]) -> String {
    String(decoding: input, as: UTF8.self).debugDescription
  }
}
