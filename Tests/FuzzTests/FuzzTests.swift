import ModelSamples
import TestKit
import Testing

/// Seeded mutation fuzzing of every decoder. A decoder that traps takes the process along, having said its name and the
/// seed first.
@Suite(.serialized)
struct FuzzTests {
  /// No decoder takes nearly as long for a few kilobytes, however busy the machine, unless its time grows
  /// out of proportion with the input.
  static let patience: Duration = .seconds(30)
  /// Accepted inputs kept for further damage.
  static let keptMax = 64

  static let runs = TestEnvironment.runs(
    of: "FuzzTests/comesBackAndIsRight", count: TestEnvironment.fuzzInputs(or: 500))

  @Test(arguments: FuzzTarget.all)
  func comesBackAndIsRight(target: FuzzTarget) {
    for run in Self.runs { fuzz(target, run) }
  }

  private func fuzz(_ target: FuzzTarget, _ run: SeededRun) {
    let repeating = "BELFRY_SEED=\(run.seed) BELFRY_FUZZ_INPUTS=\(run.count) \(target.name)"
    print(repeating)
    // Each target has numbers of its own, so that one more row does not change what the others see.
    var random = SeededGenerator(seed: target.name.utf8.reduce(run.seed) { $0 &* 31 &+ UInt64($1) })
    var kept = (0..<16).map { _ in target.sample(&random) }
    for sample in kept {
      #expect(decode(target, sample, repeating) == true, "\(repeating) refuses \(words(sample))")
    }
    var refused = 0
    for _ in 0..<run.count {
      let input = random.damaged(random.pick(kept), mixedWith: random.pick(kept))
      guard let isTaken = decode(target, input, repeating) else { return }
      if !isTaken { refused += 1 }
      guard isTaken, !input.isEmpty else { continue }
      if kept.count < Self.keptMax { kept.append(input) } else { kept[random.below(kept.count)] = input }
      // Fresh samples keep it from wandering off into what is long and meaningless.
      if random.oneIn(8) { kept[random.below(kept.count)] = target.sample(&random) }
    }
    #expect(refused > 0, "\(repeating): a decoder that takes anything decodes nothing")
  }

  /// Nil if something was wrong, which is then recorded.
  private func decode(_ target: FuzzTarget, _ input: [UInt8], _ repeating: String) -> Bool? {
    let begin = ContinuousClock.now
    do {
      let isTaken = try target.decode(input)
      guard ContinuousClock.now - begin > Self.patience else { return isTaken }
      Issue.record("\(repeating) takes long for \(words(input))")
    } catch {
      Issue.record("\(repeating): \(words(input)): \(error)")
    }
    return nil
  }

  private func words(_ input: [UInt8]) -> String {
    String(decoding: input, as: UTF8.self).debugDescription
  }
}
