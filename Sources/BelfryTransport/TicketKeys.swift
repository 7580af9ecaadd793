import CTLS

/// The keys with which a server encrypts the tickets that let clients resume their sessions, together with
/// the previous keys. Somebody who has the keys of a time can read the TLS 1.2 sessions that were resumed in
/// that time, so no keys last long.
package struct TicketKeys: Sendable {
  /// The longest age of a session that is resumed. Keys encrypt for this time, and are then kept for the same
  /// time, so no ticket is refused too early.
  package static let lifetime: Duration = .seconds(sessionSeconds)
  static let sessionSeconds = 12 * 3_600
  static let byteCount = 2 * setBytes
  private static let setBytes = tls_ticket_key_bytes

  let bytes: [UInt8]
  private let madeAt: ContinuousClock.Instant

  package init(now: ContinuousClock.Instant = .now) throws(TLSError) {
    // The older set is random, and belongs to nobody.
    bytes = try Self.random() + Self.random()
    madeAt = now
  }

  private init(_ bytes: [UInt8], _ now: ContinuousClock.Instant) { (self.bytes, madeAt) = (bytes, now) }

  package func isStale(now: ContinuousClock.Instant) -> Bool { madeAt + Self.lifetime <= now }

  /// New keys, together with the present ones for tickets that are already issued.
  package func replaced(now: ContinuousClock.Instant) throws(TLSError) -> TicketKeys {
    TicketKeys(try Self.random() + bytes.prefix(Self.setBytes), now)
  }

  private static func random() throws(TLSError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: setBytes)
    guard unsafe tls_random(&bytes, Int32(setBytes)) == 1 else {
      throw TLSError(.noMemory, "the system has no random bytes")
    }
    return bytes
  }
}
