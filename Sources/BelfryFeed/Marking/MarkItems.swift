import BelfryModel
import BelfryStore

/// Marks single notifications read, as a pure decision on what the account is and what the store holds of them.
struct MarkItems: Sendable {
  let account: AccountID
  /// The device that marks; the account's others are told.
  let device: DeviceID?
  /// Ascending, each once.
  let ids: [MessageID]

  /// The facts on which the operation decides.
  struct Basis: Sendable {
    let view: AccountView
    /// Those of the ids that name an entry where the account is or was.
    let located: [LocatedEntry]
    let limits: Limits
    let nowMilliseconds: Int64
  }

  /// - Returns: nil when none of them is visible and unread.
  func decide(on basis: Basis) -> ReadMark? {
    let unread = basis.located.filter {
      basis.view.visibility(of: $0, basis.limits, nowMilliseconds: basis.nowMilliseconds).isVisible
    }
    if unread.isEmpty { return nil }
    return ReadMark(
      items: unread.map { $0.entry.id },
      directMessages: Dictionary(
        unread.filter { $0.space.kind == .direct }.map { ($0.space, $0.entry.id) }, uniquingKeysWith: max),
      device: device, version: basis.view.read.version)
  }
}
