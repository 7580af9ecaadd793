/// The consumers of a loop, spread over the seconds of a heartbeat's interval, so that the heartbeats of ten thousand
/// are seven hundred a second and not ten thousand at once.
final class HeartbeatWheel {
  static let heartbeatSeconds = 15

  private var slots: [[ObjectIdentifier: Consumer]]
  private var nextSlot = 0

  init(seconds: Int) { slots = Array(repeating: [:], count: seconds) }

  func add(_ consumer: Consumer) {
    consumer.heartbeatSlot = nextSlot
    slots[nextSlot][ObjectIdentifier(consumer)] = consumer
    nextSlot = (nextSlot + 1) % slots.count
  }

  func remove(_ consumer: Consumer) {
    slots[consumer.heartbeatSlot][ObjectIdentifier(consumer)] = nil
  }

  func beat(second: Int, nowMilliseconds: Int64) {
    for consumer in slots[second % slots.count].values { consumer.beat() }
    // A token may expire between two heartbeats; a second late is soon enough.
    for slot in slots {
      for consumer in slot.values where consumer.expiresAtMilliseconds <= nowMilliseconds {
        consumer.kick(.tokenExpired)
      }
    }
  }
}
