import BelfryLoop
import SimulationKit
import Synchronization

/// An actor on a loop of a simulated machine. It takes steps at random times, and calls on others.
actor Walker {
  nonisolated let name: String
  nonisolated let loop: EventLoop

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  init(_ name: String, on loop: EventLoop) { (self.name, self.loop) = (name, loop) }

  func walk(_ steps: Int, among others: [Walker], _ notes: Notes) async {
    for step in 0..<steps {
      try? await loop.sleep(for: .milliseconds(Int.random(in: 0..<1_000)))
      notes.add("\(name) takes step \(step)")
      let other = others[Int.random(in: others.indices)]
      await other.hear("\(name) \(step)", notes)
      other.loop.perform { other.assumeIsolated { $0.note("a call of \(self.name)", in: notes) } }
    }
    notes.end()
  }

  private func hear(_ word: String, _ notes: Notes) async {
    note(word, in: notes)
    // More work on its own loop, as the child of a scope.
    let scope = LoopScope(on: loop)
    scope.start { notes.add("\(self.name) repeats \(word)") }
    scope.start { scope.close() }
    await scope.run()
  }

  private func note(_ word: String, in notes: Notes) { notes.add("\(name) hears \(word)") }

  func sleep(for duration: Duration) async -> Duration {
    let began = ContinuousClock.now
    try? await loop.sleep(for: duration)
    return began.duration(to: .now)
  }
}

/// Lines that code on loops writes and a test reads.
final class Notes: Sendable {
  private struct Content {
    var lines: [String] = []
    var ends = 0
  }

  private let content = Mutex(Content())

  var lines: [String] { content.withLock { $0.lines } }
  /// The number of walks that have ended.
  var ends: Int { content.withLock { $0.ends } }

  func add(_ line: String) { content.withLock { $0.lines.append(line) } }
  func end() { content.withLock { $0.ends += 1 } }
}

/// All that two runs of one seed have in common.
struct Walk: Hashable, Sendable {
  var lines: [String]
  var trace: Trace

  /// Three machines, one of them with two loops, and a walker on each loop.
  static func play(seed: UInt64) throws -> Walk {
    try Simulation.play(seed: seed) { simulation in
      let notes = Notes()
      var walkers: [Walker] = []
      for (name, loops) in [("a", 1), ("b", 2), ("c", 1)] {
        let host = simulation.addHost(name)
        for number in 0..<loops {
          walkers.append(Walker("\(name)\(number)", on: try host.makeLoop("\(number)")))
        }
      }
      let all = walkers
      for walker in all {
        Task(executorPreference: walker.loop) { await walker.walk(20, among: all, notes) }
      }
      try simulation.run { notes.ends == all.count }
      // The last calls may still be on their way.
      try simulation.run(for: .seconds(1))
      return Walk(lines: notes.lines, trace: simulation.trace)
    }
  }
}
