import BelfryLoop
import BelfrySystem
import Glibc
import SimulatedMachine
import Synchronization
import TestKit

/// Many machines on one thread. A seed decides which loop does its next iteration, and how much time that takes. So one seed
/// has one history, as long as nothing runs on another thread.
///
/// Time stands while something runs. If nothing has work, it goes on at once to the next deadline, so an hour in which
/// nothing happens takes no time.
///
///     let result = try Simulation.play(seed: 7) { simulation in
///       let loop = try simulation.addHost("broker 1").makeLoop("loop 0")
///       Task(executorPreference: loop) { … }
///       try simulation.run { … }
///     }
///
/// Everything happens between the beginning and the end of the body, on its thread. Loops have no threads of their own.
package final class Simulation {
  /// An iteration takes up to so long. Zero would never let a busy loop reach a deadline.
  private static let iterationNanosecondsMost = 50_000
  /// The clocks of each machine at the beginning: any time will do for the first, and 2026-01-01 for the second.
  private static let monotonicBeginning: Int64 = 1_000 * Duration.nanosecondsPerSecond
  private static let wallBeginning: Int64 = 1_767_225_600 * Duration.nanosecondsPerSecond

  private struct Place {
    let loop: EventLoop
    let host: SimulatedHost
  }

  private enum Choice {
    case iterate(index: Int)
    case act
  }

  private var chance: SeededGenerator
  private let beginning = ContinuousClock.now
  private var nanoseconds: Int64 = 0
  private var places: [Place] = []
  /// For each place, the question to the kernel if events wait for its loop.
  private var questions: [pollfd] = []
  private var agenda = Agenda()
  package private(set) var trace = Trace()
  package private(set) lazy var network = SimulatedNetwork(of: self)
  /// The machine that does something now; nil between two turns.
  var presentHost: SimulatedHost?

  private init(seed: UInt64) { chance = SeededGenerator(seed: seed) }

  /// Does the body on a thread of its own, which has a simulated machine for so long, and waits for its end.
  @discardableResult
  package static func play<Value: Sendable>(
    seed: UInt64, _ body: @escaping @Sendable (Simulation) throws -> Value
  ) throws -> Value {
    let outcome = Mutex<Result<Value, any Error>?>(nil)
    let thread = try SystemThread("simulation") {
      let result: Result<Value, any Error> = Result { try Simulation.playHere(seed, body) }
      outcome.withLock { $0 = result }
    }
    thread.join()
    guard let result = outcome.withLock({ $0 }) else { throw FixtureError("the simulation had no outcome") }
    return try result.get()
  }

  private static func playHere<Value>(
    _ seed: UInt64, _ body: (Simulation) throws -> Value
  ) throws -> Value {
    machine_begin(monotonicBeginning, wallBeginning)
    defer { machine_end() }
    let simulation = Simulation(seed: seed)
    simulation.network.attach()
    defer { simulation.network.detach() }
    let value = try body(simulation)
    try simulation.checkThatNothingEscaped()
    return value
  }

  /// The time since the beginning.
  package var elapsed: Duration { .nanoseconds(nanoseconds) }
  /// The wall clock of a machine that nobody has set, since 1970.
  var wallTime: Duration { .nanoseconds(Self.wallBeginning + nanoseconds) }

  // MARK: Machines and loops

  /// Adds a machine, with a clock and random numbers of its own.
  package func addHost(_ name: String) -> SimulatedHost {
    SimulatedHost(name, randomness: chance.next(), of: self)
  }

  /// Takes the loop of a host under the simulation's control.
  func add(_ loop: EventLoop, of host: SimulatedHost) {
    places.append(Place(loop: loop, host: host))
    questions.append(pollfd(fd: loop.eventDescriptor, events: Int16(POLLIN), revents: 0))
  }

  private func removePlace(at index: Int) {
    places.remove(at: index)
    questions.remove(at: index)
  }

  /// Lets something happen outside of all loops, such as a message that arrives or somebody who makes a request.
  package func schedule(after delay: Duration, _ action: @escaping () -> Void) {
    agenda.add(at: nanoseconds + max(delay, .zero).wholeNanoseconds, action)
  }
}

// MARK: - Steps

extension Simulation {
  /// Plays until it is over.
  /// - Throws: if nothing is left to happen before that, if it is not over after so many steps, or if a job has escaped.
  package func run(stepsMost: Int = 10_000_000, until isOver: () throws -> Bool) throws {
    var steps = 0
    while try !isOver() {
      guard step() else {
        throw FixtureError("nothing is left to happen after \(elapsed), and it is not over")
      }
      try checkThatNothingEscaped()
      steps += 1
      guard steps < stepsMost else {
        throw FixtureError("it is not over after \(steps) steps and \(elapsed)")
      }
    }
  }

  /// Plays for so long.
  package func run(for duration: Duration) throws {
    var hasEnded = false
    schedule(after: duration) { hasEnded = true }
    try run(stepsMost: .max) { hasEnded }
  }

  /// - Returns: false if nothing is left to happen.
  private func step() -> Bool {
    network.collect()
    var choices = findChoices()
    while choices.isEmpty {
      guard let next = nextTime else { return false }
      advance(to: next)
      choices = findChoices()
    }
    switch chance.pick(choices) {
    case .iterate(let index): iterate(places[index], at: index)
    case .act:
      trace.note(0, at: nanoseconds)
      agenda.popFirst()?()
    }
    return true
  }

  private func iterate(_ place: Place, at index: Int) {
    trace.note(index + 1, at: nanoseconds)
    place.host.enter { place.loop.iterateOnce() }
    if place.loop.hasEnded { removePlace(at: index) }
    advance(to: nanoseconds + Int64(chance.below(Self.iterationNanosecondsMost)))
  }

  /// Everything that may happen now.
  private func findChoices() -> [Choice] {
    let count = nfds_t(questions.count)
    unsafe poll(&questions, count, 0)
    var choices: [Choice] = []
    for (index, place) in places.enumerated() {
      let isDue = dueTime(of: place.loop).map { $0 <= nanoseconds } ?? false
      if isDue || questions[index].revents != 0 { choices.append(.iterate(index: index)) }
    }
    if let earliest = agenda.earliest, earliest <= nanoseconds { choices.append(.act) }
    return choices
  }

  /// The time at which something happens next if no message does it earlier; nil if nothing ever does.
  private var nextTime: Int64? {
    let deadlines = places.compactMap { dueTime(of: $0.loop) }
    return [deadlines.min(), agenda.earliest].compactMap(\.self).min()
  }

  private func dueTime(of loop: EventLoop) -> Int64? {
    loop.nextDeadline.map { beginning.duration(to: $0).wholeNanoseconds }
  }

  // MARK: Chance and trace

  /// A number below the limit, which the seed decides.
  func draw(below limit: Int) -> Int { chance.below(limit) }

  /// Notes bytes that arrive, so that two runs with equal traces have had equal messages.
  func note(_ bytes: [UInt8]) { trace.note(bytes) }

  private func checkThatNothingEscaped() throws {
    let count = machine_escaped_jobs()
    guard count == 0 else { throw FixtureError("\(count) jobs went to the global executor after \(elapsed)") }
  }

  // MARK: Time

  private func advance(to time: Int64) {
    nanoseconds = max(nanoseconds, time)
    setClocks(wallAhead: .zero)
  }

  /// Sets the clocks that the thread sees.
  func setClocks(wallAhead: Duration) {
    machine_set_clocks(
      Self.monotonicBeginning + nanoseconds, Self.wallBeginning + nanoseconds + wallAhead.wholeNanoseconds)
  }
}

extension Duration {
  fileprivate static let nanosecondsPerSecond: Int64 = 1_000_000_000
  /// Some 95 years. Three times as much would overflow a number of nanoseconds.
  private static let secondsMost: Int64 = 3_000_000_000

  /// Rounded up, so that a deadline has passed at that time.
  fileprivate var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let whole = min(max(seconds, -Self.secondsMost), Self.secondsMost) * Self.nanosecondsPerSecond
    return whole + (attoseconds + 999_999_999) / 1_000_000_000
  }
}
