/// How much of something its owners have taken, and how much more each may take.
///
/// An owner may take as much as then stays free for the others: one owner alone gets half, two get a third each, nine a
/// tenth each. So an owner who has nothing finds something free until there are as many owners as places, and no
/// configuration has to guess how many there will be. Buffers of network switches are shared by the same rule (dynamic
/// thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998).
///
/// Public and inlinable for the same reason as ``Queue``.
public struct FairShares<Owner: Hashable> {
  /// Why nothing was taken.
  public enum Shortage: Sendable, Hashable {
    /// Too little is free, even for an owner who has nothing.
    case all
    /// The owner has its share.
    case owner
  }

  public let total: Int
  /// No owner ever gets more, however much is free.
  public let perOwner: Int
  /// Left free for trusted owners, who are known by having no name.
  public let reserved: Int
  @usableFromInline var taken = 0
  /// The shares of the owners that have any.
  @usableFromInline var byOwner: [Owner: Int] = [:]

  @inlinable public init(total: Int, perOwner: Int = .max, reserved: Int = 0) {
    self.total = total
    self.perOwner = perOwner
    self.reserved = reserved
  }

  @inlinable public var isExhausted: Bool { taken >= total }
  /// The sum that all owners have taken.
  @inlinable public var takenByAll: Int { taken }
  @inlinable public var ownerCount: Int { byOwner.count }
  @inlinable public func taken(by owner: Owner) -> Int { byOwner[owner] ?? 0 }

  /// - Parameter owner: nil for the trusted ones, who share all that is free.
  /// - Returns: nil when `amount` may be taken. More than there is at all may be taken while nothing is taken.
  @inlinable public func shortage(of amount: Int = 1, for owner: Owner?) -> Shortage? {
    if taken == 0 { return nil }
    guard let owner else { return amount <= total - taken ? nil : .all }
    let left = total - taken - reserved - amount
    guard left >= 0 else { return .all }
    let before = taken(by: owner)
    // The last place goes to an owner who has none.
    guard before + amount > min(perOwner, max(left, 1)) else { return nil }
    return before > 0 || amount > perOwner ? .owner : .all
  }

  /// Takes all of it or nothing.
  /// - Parameter isForced: take it even beyond the share, and beyond what there is.
  @inlinable public mutating func take(_ amount: Int = 1, for owner: Owner?, isForced: Bool = false)
    -> Shortage?
  {
    if !isForced, let shortage = shortage(of: amount, for: owner) { return shortage }
    taken += amount
    if let owner { byOwner[owner, default: 0] += amount }
    return nil
  }

  @inlinable public mutating func giveBack(_ amount: Int = 1, of owner: Owner?) {
    taken -= amount
    guard let owner, let own = byOwner[owner] else { return }
    byOwner[owner] = own > amount ? own - amount : nil
  }
}
