import BelfryLive
import BelfryModel

/// The streams and waiting requests of one loop. It finds those with a revoked credential.
final class ConnectionSlots {
  private var slots: [ObjectIdentifier: ConnectionSlot] = [:]

  fileprivate func add(_ slot: ConnectionSlot) { slots[ObjectIdentifier(slot)] = slot }
  fileprivate func remove(_ slot: ConnectionSlot) { slots[ObjectIdentifier(slot)] = nil }

  var credentials: [Credential] { slots.values.map(\.credential) }

  func endAll(where isOver: (Credential) -> Bool) {
    for slot in slots.values where isOver(slot.credential) { slot.revoke() }
  }
}

/// A stream or a waiting request, which ends if the credential that opened it is revoked.
protocol RevocableConnection: AnyObject {
  func revoke()
}

extension Consumer: RevocableConnection {
  func revoke() { kick(.tokenRevoked) }
}

extension FeedWait: RevocableConnection {
  func revoke() { end() }
}

/// A slot for one of the streams and waiting requests that an account may have at a time, until it is closed.
final class ConnectionSlot {
  let credential: Credential
  /// True if the credential that opened it has been revoked.
  private(set) var isRevoked = false
  /// The stream or request that uses the slot.
  var user: (any RevocableConnection)?
  private let account: AccountID
  private let limits: AccountLimits
  private let slots: ConnectionSlots
  private var isOpen = true

  init(
    _ account: AccountID, by credential: Credential, _ limits: AccountLimits, among slots: ConnectionSlots
  ) {
    self.account = account
    self.credential = credential
    self.limits = limits
    self.slots = slots
    slots.add(self)
  }

  fileprivate func revoke() {
    isRevoked = true
    user?.revoke()
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    user = nil
    slots.remove(self)
    limits.closeSlot(of: account)
  }
}
