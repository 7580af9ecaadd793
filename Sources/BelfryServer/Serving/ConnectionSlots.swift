import BelfryModel

/// The streams and the requests that wait on one loop, so that they are found when what they were admitted by is taken
/// back.
final class ConnectionSlots {
  private var places: [ObjectIdentifier: AccountPlace] = [:]

  fileprivate func add(_ place: AccountPlace) { places[ObjectIdentifier(place)] = place }
  fileprivate func remove(_ place: AccountPlace) { places[ObjectIdentifier(place)] = nil }

  func endAll(where isOver: (Credential) -> Bool) {
    for place in places.values where isOver(place.credential) { place.revoke() }
  }
}

/// One of an account's places, until it is closed.
final class AccountPlace {
  let credential: Credential
  /// Whether what it was opened by has been taken back.
  private(set) var isRevoked = false
  /// Ends what has the place.
  var onRevoked: (() -> Void)?
  private let account: AccountID
  private let limits: AccountLimits
  private let places: ConnectionSlots
  private var isOpen = true

  init(
    _ account: AccountID, by credential: Credential, _ limits: AccountLimits, among places: ConnectionSlots
  ) {
    self.account = account
    self.credential = credential
    self.limits = limits
    self.places = places
    places.add(self)
  }

  fileprivate func revoke() {
    isRevoked = true
    onRevoked?()
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    onRevoked = nil
    places.remove(self)
    limits.closePlace(of: account)
  }
}
