import BelfryLoop
import BelfrySystem
import Synchronization
import Testing

/// A loop that no thread runs: something else drives it, one iteration at a time.
@Suite struct DrivenLoopTests {
  @Test func workFromOutsideMakesTheDescriptorReadableUntilTheNextIteration() throws {
    let loop = try EventLoop(name: "driven")
    let notes = Notes()
    #expect(!Self.hasEvents(loop))
    loop.perform { notes.add("done") }
    #expect(Self.hasEvents(loop))
    #expect(notes.all.isEmpty)
    loop.iterateOnce()
    #expect(notes.all == ["done"])
    #expect(!Self.hasEvents(loop))
  }

  @Test func theNextDeadlineIsThatOfTheEarliestTimer() throws {
    let loop = try EventLoop(name: "driven")
    #expect(loop.nextDeadline == nil)
    let deadline = ContinuousClock.now + .seconds(3_600)
    loop.perform {
      _ = loop.schedule(at: deadline + .seconds(1)) {}
      _ = loop.schedule(at: deadline) {}
    }
    loop.iterateOnce()
    #expect(loop.nextDeadline == deadline)
  }

  @Test func aHookThatAsksForAnotherIterationMakesItDueAtOnce() throws {
    let loop = try EventLoop(name: "driven")
    let notes = Notes()
    loop.perform {
      _ = loop.beforeWaiting(.flush) {
        if notes.all.isEmpty { loop.requireHooks() }
        notes.add("hook")
      }
    }
    loop.iterateOnce()
    let due = try #require(loop.nextDeadline)
    #expect(due <= .now)
    loop.iterateOnce()
    #expect(notes.all == ["hook", "hook"])
    #expect(loop.nextDeadline == nil)
  }

  @Test func tasksRunInIterationsAndTheLoopIsCurrentInThemAlone() throws {
    let loop = try EventLoop(name: "driven")
    let resident = Resident(on: loop)
    let notes = Notes()
    Task(executorPreference: loop) {
      notes.add(loop.isCurrent ? "current" : "elsewhere")
      await resident.note("between")
      notes.add(loop.isCurrent ? "current" : "elsewhere")
      loop.stop()
    }
    while !loop.hasEnded {
      loop.iterateOnce()
      #expect(!loop.isCurrent)
    }
    #expect(notes.all == ["current", "current"])
  }

  /// True if events wait. The deadline has passed, so the question does not wait for any.
  private static func hasEvents(_ loop: EventLoop) -> Bool {
    !Poll.readable([loop.eventDescriptor], until: .now - .seconds(3_600)).isEmpty
  }
}

/// Lines that code on a loop writes and a test reads.
private final class Notes: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  func add(_ line: String) { lines.withLock { $0.append(line) } }
}
