package import BelfryModel

/// A stream that is open, as all brokers see it.
package struct LiveStream: Sendable, Hashable {
  /// Its name over all brokers: of the broker's name, what no other stream of that broker has.
  package var id: String
  /// The loop of a broker that has it, for as long as that loop renews its registration.
  package var registration: StreamRegistration
  /// Milliseconds since 1970, by Redis's clock.
  package var openedAtMilliseconds: Int64
  /// The device that it says it is; nil where it says nothing.
  package var device: DeviceID?
  /// From where it was opened, as far as TCP knows; empty for a kind of socket that has no addresses.
  package var address: String

  package init(
    id: String, registration: StreamRegistration, openedAtMilliseconds: Int64, device: DeviceID?,
    address: String
  ) {
    self.id = id
    self.registration = registration
    self.openedAtMilliseconds = openedAtMilliseconds
    self.device = device
    self.address = address
  }
}

/// A stream that its broker registers.
package struct OpenedStream: Sendable, Hashable {
  package var id: String
  /// For how long it has been open. Redis computes from this when it was opened, by its own clock, so streams of brokers
  /// whose clocks differ can be compared.
  package var age: Duration
  package var device: DeviceID?
  package var address: String

  package init(id: String, age: Duration, device: DeviceID?, address: String) {
    self.id = id
    self.age = age
    self.device = device
    self.address = address
  }
}

/// A loop's promise that its streams are open, which it has to renew. What it has not renewed is over, and its streams
/// count as closed.
package struct StreamRegistration: Sendable, Hashable {
  /// How often a loop renews it.
  package static let renewal: Duration = .seconds(2)
  /// For so long its streams count as live after it was renewed.
  package static let lifetime: Duration = .seconds(10)
  /// For so much longer it is known what became of its streams, should the loop only have been held up or cut off.
  package static let memory: Duration = .seconds(600)

  package let name: String

  /// - Parameters:
  ///   - broker: its name, without a dot.
  ///   - number: another one each time that the loop registers.
  package init(broker: String, loop: Int, number: Int) { name = "\(broker).\(loop).\(number)" }

  init(name: String) { self.name = name }

  package var broker: String { String(name.prefix { $0 != "." }) }
}

/// Why an account's stream is to end although its client wants it.
package enum StreamEnd: Sendable, Hashable {
  /// A later one took its place (``LoginPolicy``): this device's, if it named one.
  case replaced(by: DeviceID?)
  /// The account, or a trusted caller for it, ended it.
  case ended
}

/// Streams of an account that are to end, on whichever broker they are.
package struct EndedStreams: Sendable, Hashable {
  package var ids: [String]
  package var why: StreamEnd

  package init(ids: [String], why: StreamEnd) {
    self.ids = ids
    self.why = why
  }
}
