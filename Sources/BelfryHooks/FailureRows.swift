/// Tells the first failure of a row from the others, for each receiver. A receiver that fails now and then would fill the log
/// otherwise, so a row that begins soon after the last one that was told is told only if it lasts.
struct FailureRows<Receiver: Hashable> {
  /// How long after the beginning of a row no other one of the same receiver is told.
  static var pause: Duration { .seconds(60) }

  private struct Row {
    var isFailing: Bool
    var begunAt: ContinuousClock.Instant
    /// True if nothing was sent to the receiver since the last failure, because somebody wanted so.
    var isInterrupted = false
  }

  private let countMax: Int
  private var rows: [Receiver: Row] = [:]

  init(countMax: Int) { self.countMax = countMax }

  /// - Returns: true if this failure is to be told.
  mutating func fail(_ receiver: Receiver, now: ContinuousClock.Instant) -> Bool {
    if let row = rows[receiver] {
      guard row.isInterrupted || !row.isFailing && now - row.begunAt >= Self.pause else { return false }
    } else if rows.count >= countMax {
      rows = rows.filter { $0.value.isFailing || now - $0.value.begunAt < Self.pause }
      guard rows.count < countMax else { return false }
    }
    rows[receiver] = Row(isFailing: true, begunAt: now)
    return true
  }

  /// - Returns: true if a row that was told ends with this.
  mutating func succeed(_ receiver: Receiver) -> Bool {
    guard let row = rows[receiver], row.isFailing else { return false }
    rows[receiver] = Row(isFailing: false, begunAt: row.begunAt)
    return true
  }

  /// Notes that nothing is sent to the receiver for now. Its next failure is told, even in the same row.
  mutating func noteInterruption(of receiver: Receiver) { rows[receiver]?.isInterrupted = true }

  mutating func forget(where isGone: (Receiver) -> Bool) { rows = rows.filter { !isGone($0.key) } }
}
