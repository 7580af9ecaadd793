package import BelfryLoop
package import BelfrySystem
import SimulatedMachine

/// A machine of a simulation. Its loops have a wall clock and random numbers in common.
package final class SimulatedHost {
  package let name: String
  private unowned let simulation: Simulation
  /// How far its wall clock is ahead of the others. A change of it is a step of the clock.
  package var wallAhead: Duration = .zero
  /// A host has random numbers of its own. Otherwise each number that one host takes would change those of all others.
  private var randomness: UInt64

  init(_ name: String, randomness: UInt64, of simulation: Simulation) {
    self.name = name
    self.randomness = randomness
    self.simulation = simulation
  }

  /// Makes a loop that the simulation drives until it is stopped.
  package func makeLoop(_ name: String) throws(SystemError) -> EventLoop {
    let loop = try enter { () throws(SystemError) in try EventLoop(name: "\(self.name) \(name)") }
    simulation.add(loop, of: self)
    return loop
  }

  /// Does something as this machine does it: by its clock, and with its random numbers.
  package func enter<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    simulation.setClocks(wallAhead: wallAhead)
    simulation.presentHost = self
    let outside = machine_swap_randomness(randomness)
    defer {
      randomness = machine_swap_randomness(outside)
      simulation.presentHost = nil
      simulation.setClocks(wallAhead: .zero)
    }
    return try body()
  }
}
