import BelfryLoop
package import BelfryModel
package import BelfryStore

/// The pushes that one loop has under way, shared by the accounts that are pushed to. A value: it says what begins, and the
/// dispatcher begins it.
package struct PushPlaces {
  package static let countMax = 256
  /// An account with so many under way, which has its share, has what else is due of it put off. Otherwise what waits for
  /// its slow devices would be all that is found to be due.
  package static let putOffFrom = 4
  /// Put off at one look.
  static let putOffMax = 500

  package struct Key: Hashable {
    package var partition: Partition
    package var text: String
  }

  /// The number that counts as under way, until ``giveBack(_:)``.
  package struct Begun {
    package var here: Key
    package var push: DuePush
    /// Nil if it cannot be read.
    package var task: PushTask?
  }

  private enum Place {
    /// Nil where no account is known.
    case taken(AccountID?)
    /// It is put off, and takes none.
    case none
  }

  private var shares: FairShares<AccountID>
  private var underWay: [Key: Place] = [:]

  package init(count: Int = Self.countMax) { shares = FairShares(total: count) }

  package var freeCount: Int { shares.total - shares.takenByAll }
  package var isUnused: Bool { underWay.isEmpty }

  /// One of each partition in turn, so that a broadcast does not keep the others waiting.
  /// - Parameter due: of each partition, including what is under way.
  /// - Returns: what begins now, and what is put off since its account has its share.
  package mutating func take(
    for due: [[DuePush]], in partitions: [Partition], most: Int
  ) -> (begun: [Begun], putOff: [Begun]) {
    var (begun, putOff): ([Begun], [Begun]) = ([], [])
    var rest = due.map { $0[...] }
    while begun.count < most, rest.contains(where: { !$0.isEmpty }) {
      for (index, partition) in partitions.enumerated() where begun.count < most {
        guard let push = rest[index].popFirst() else { continue }
        let one = Begun(
          here: Key(partition: partition, text: push.text), push: push, task: PushTask(text: push.text))
        if underWay[one.here] != nil { continue }
        let account = one.task?.account
        if shares.take(for: account) == nil {
          underWay[one.here] = .taken(account)
          begun.append(one)
        } else if let account, shares.taken(by: account) >= Self.putOffFrom, putOff.count < Self.putOffMax {
          underWay[one.here] = Place.none
          putOff.append(one)
        }
        // Otherwise it is still due when places are free again.
      }
    }
    return (begun, putOff)
  }

  /// To be called once for each, when it has ended.
  package mutating func giveBack(_ here: Key) {
    if case .taken(let account)? = underWay.removeValue(forKey: here) { shares.giveBack(of: account) }
  }
}
