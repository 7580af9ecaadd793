import BelfryLoop
import BelfrySystem
import SimulationKit
import TestKit
import Testing

@Suite struct SimulationTests {
  @Test func oneSeedHasOneHistory() throws {
    for seed in TestEnvironment.seed..<TestEnvironment.seed + 20 {
      let first = try Walk.play(seed: seed)
      let again = try Walk.play(seed: seed)
      #expect(first == again, "seed \(seed)")
    }
  }

  @Test func anotherSeedHasAnotherHistory() throws {
    let walks = try (1...10).map { try Walk.play(seed: $0) }
    #expect(Set(walks.map(\.lines)).count == 10)
    // Each walk has the same steps, in an order of its own.
    #expect(Set(walks.map(\.lines.count)).count == 1)
  }

  @Test func anHourWithoutWorkTakesAFewSteps() throws {
    let (slept, steps) = try Simulation.play(seed: 1) { simulation in
      let sleeper = Walker("sleeper", on: try simulation.addHost("one").makeLoop("0"))
      let notes = Notes()
      Task(executorPreference: sleeper.loop) {
        let slept = await sleeper.sleep(for: .seconds(3_600))
        notes.add("\(slept)")
      }
      try simulation.run { notes.lines.count == 1 }
      return (notes.lines, simulation.trace.steps)
    }
    #expect(slept == ["\(Duration.seconds(3_600))"])
    #expect(steps < 20)
  }

  @Test func actionsFromOutsideComeInTheirOrderAndAtTheirTimes() throws {
    let lines = try Simulation.play(seed: 1) { simulation in
      let notes = Notes()
      for (seconds, name) in [(2, "third"), (1, "first"), (1, "second")] {
        simulation.schedule(after: .seconds(seconds)) { notes.add("\(name) at \(simulation.elapsed)") }
      }
      try simulation.run(for: .seconds(10))
      return notes.lines
    }
    let (one, two) = (Duration.seconds(1), Duration.seconds(2))
    #expect(lines == ["first at \(one)", "second at \(one)", "third at \(two)"])
  }

  @Test func onlyTheLoopWhoseTurnItIsIsCurrent() throws {
    let lines = try Simulation.play(seed: 1) { simulation in
      let notes = Notes()
      let one = try simulation.addHost("one").makeLoop("0")
      let two = try simulation.addHost("two").makeLoop("0")
      one.perform {
        notes.add("one: \(one.isCurrent) \(two.isCurrent)")
        two.perform { notes.add("two: \(one.isCurrent) \(two.isCurrent)") }
      }
      try simulation.run { notes.lines.count == 2 }
      return notes.lines
    }
    #expect(lines == ["one: true false", "two: false true"])
  }

  @Test func randomNumbersFollowFromTheSeedAndTheMachine() throws {
    let first = try Self.drawOnTwoHosts(seed: 1)
    let again = try Self.drawOnTwoHosts(seed: 1)
    let other = try Self.drawOnTwoHosts(seed: 2)
    #expect(first == again)
    #expect(Set(first + other).count == first.count + other.count)
  }

  @Test func aStepOfOneMachinesClockMovesNoOther() throws {
    let times = try Simulation.play(seed: 1) { simulation in
      let (one, two) = (simulation.addHost("one"), simulation.addHost("two"))
      one.wallAhead = .seconds(-600)
      let wall = [one, two].map { $0.enter { WallClock.nowMilliseconds() } }
      let monotonic = [one, two].map { $0.enter { ContinuousClock.now } }
      return (wall[1] - wall[0], monotonic[1] - monotonic[0])
    }
    #expect(times.0 == 600_000)
    #expect(times.1 == .zero)
  }

  @Test func aLoopThatWasStoppedHasNoMoreTurns() throws {
    #expect(throws: FixtureError.self) {
      try Simulation.play(seed: 1) { simulation in
        let notes = Notes()
        let loop = try simulation.addHost("one").makeLoop("0")
        loop.perform { notes.add("runs") }
        try simulation.run { notes.lines.count == 1 }
        loop.stop()
        try simulation.run(for: .seconds(1))
        loop.perform { notes.add("does not run") }
        try simulation.run { notes.lines.count == 2 }
      }
    }
  }

  @Test func aJobThatLeavesTheLoopsEndsTheSimulation() throws {
    #expect(throws: FixtureError.self) {
      try Simulation.play(seed: 1) { simulation in
        _ = simulation.addHost("one")
        Task {}
      }
    }
  }

  private static func drawOnTwoHosts(seed: UInt64) throws -> [UInt64] {
    try Simulation.play(seed: seed) { simulation in
      [simulation.addHost("one"), simulation.addHost("two")].flatMap { host in
        host.enter { [UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)] }
      }
    }
  }
}
