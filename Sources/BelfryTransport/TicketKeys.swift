import CTLS

/// What a server encrypts tickets by, with which clients resume their sessions, and what it did so by before. Whoever has
/// the keys of a time can read what sessions of TLS 1.2 said that were resumed in it, so no keys last long.
package struct TicketKeys: Sendable {
  /// Since how long at most a session may have been and be resumed. Keys encrypt for as long, and are then kept for as
  /// long, so no ticket is refused before its time.
  package static let lifetime: Duration = .seconds(sessionSeconds)
  static let sessionSeconds = 12 * 3_600
  static let byteCount = 2 * setBytes
  private static let setBytes = tls_ticket_key_bytes

  let bytes: [UInt8]
  private let madeAt: ContinuousClock.Instant

  package init(now: ContinuousClock.Instant = .now) throws(TLSError) {
    // The older set is nobody's.
    bytes = try Self.random() + Self.random()
    madeAt = now
  }

  private init(_ bytes: [UInt8], _ now: ContinuousClock.Instant) { (self.bytes, madeAt) = (bytes, now) }

  package func isStale(now: ContinuousClock.Instant) -> Bool { madeAt + Self.lifetime <= now }

  /// New keys, and these beside them for the tickets that are out.
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
