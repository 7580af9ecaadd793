package import BelfryModel

/// A stream that is open, or a page that waits for notifications, as all brokers see it.
package struct LiveStream: Sendable, Hashable {
  /// The stream's name over all brokers: the broker's name, and a part that no other stream of that broker
  /// has.
  package var id: String
  /// The registration of the broker's loop that has the stream. The stream counts as open for as long as the
  /// loop renews it.
  package var registration: StreamRegistration
  /// The time at which the stream was opened, in milliseconds since 1970, by Redis's clock.
  package var openedAtMilliseconds: Int64
  /// The device that the client named; nil if it named none.
  package var device: DeviceID?
  /// The address from which it was opened, as far as TCP knows; empty for a kind of socket that has no
  /// addresses.
  package var address: String
  /// True for a page that waits. It is a live device, and no stream: it replaces none, and is not listed or ended as one.
  package var isWaitingPage: Bool

  package init(
    id: String, registration: StreamRegistration, openedAtMilliseconds: Int64, device: DeviceID?,
    address: String, isWaitingPage: Bool = false
  ) {
    self.id = id
    self.registration = registration
    self.openedAtMilliseconds = openedAtMilliseconds
    self.device = device
    self.address = address
    self.isWaitingPage = isWaitingPage
  }
}

/// A stream that its broker registers, or a page that waits.
package struct OpenedStream: Sendable, Hashable {
  package var id: String
  /// The time for which it has been open. Redis computes from this when it was opened, by its own clock, so
  /// streams of brokers whose clocks differ can be compared.
  package var age: Duration
  package var device: DeviceID?
  package var address: String
  package var isWaitingPage: Bool

  package init(id: String, age: Duration, device: DeviceID?, address: String, isWaitingPage: Bool = false) {
    self.id = id
    self.age = age
    self.device = device
    self.address = address
    self.isWaitingPage = isWaitingPage
  }
}

/// A loop's promise that its streams are open, which it has to renew. If the loop does not renew it in time,
/// the registration is over, and its streams count as closed.
package struct StreamRegistration: Sendable, Hashable {
  /// A loop renews its registration at this interval.
  package static let renewal: Duration = .seconds(2)
  /// Its streams count as live for so long after it was renewed.
  package static let lifetime: Duration = .seconds(10)
  /// The store remembers its streams for so much longer, in case the loop was only held up or cut off.
  package static let memory: Duration = .seconds(600)

  package let name: String

  /// - Parameters:
  ///   - broker: the broker's name, without a dot.
  ///   - number: a new one each time that the loop registers.
  package init(broker: String, loop: Int, number: Int) { name = "\(broker).\(loop).\(number)" }

  init(name: String) { self.name = name }

  package var broker: String { String(name.prefix { $0 != "." }) }
}

/// The reason why an account's stream is to end although its client wants it.
package enum StreamEnd: Sendable, Hashable {
  /// A later stream took its place (``LoginPolicy``): this device's, if it named one.
  case replaced(by: DeviceID?)
  /// The account ended it, or a trusted caller did for the account.
  case ended
}

/// Streams of an account that are to end, on any broker.
package struct EndedStreams: Sendable, Hashable {
  package var ids: [String]
  package var why: StreamEnd

  package init(ids: [String], why: StreamEnd) {
    self.ids = ids
    self.why = why
  }
}
