import BelfryLoop
package import BelfryModel
package import BelfryStore

/// The pushes that one loop has under way. The accounts share the places. It is a value: it decides which pushes begin, and
/// the dispatcher begins them.
package struct PushPlaces {
  package static let countMax = 256
  /// An account with so many pushes under way has its share, and its other due pushes are put off. Otherwise the pushes
  /// that wait for its slow devices would be the only due ones that are found.
  package static let putOffFrom = 4
  /// How many pushes are put off at one look.
  static let putOffMax = 500

  package struct Key: Hashable {
    package var partition: Partition
    package var text: String
  }

  /// A push that counts as under way until ``giveBack(_:)``.
  package struct Begun {
    package var here: Key
    package var push: DuePush
    /// Nil if it cannot be read.
    package var task: PushTask?
  }

  private enum Place {
    /// Nil if no account is known.
    case taken(AccountID?)
    /// The push is put off or set aside, and takes no place.
    case none
  }

  private var shares: FairShares<AccountID>
  private var underWay: [Key: Place] = [:]

  package init(count: Int = Self.countMax) { shares = FairShares(total: count) }

  package var freeCount: Int { shares.total - shares.takenByAll }
  package var isUnused: Bool { underWay.isEmpty }

  /// Takes one push of each partition in turn, so that a broadcast does not keep the others waiting.
  /// - Parameters:
  ///   - due: the due pushes of each partition, including those under way.
  ///   - isLeftAlone: true for a push whose receiver gets no requests at present.
  /// - Returns: the pushes that begin now, and those that are put off since their account has its share or their receiver is
  ///   left alone.
  package mutating func take(
    for due: [[DuePush]], in partitions: [Partition], most: Int,
    isLeftAlone: (Key) -> Bool = { _ in false }
  ) -> (begun: [Begun], putOff: [Begun]) {
    var (begun, putOff): ([Begun], [Begun]) = ([], [])
    var rest = due.map { $0[...] }
    while begun.count < most, rest.contains(where: { !$0.isEmpty }) {
      for (index, partition) in partitions.enumerated() where begun.count < most {
        guard let push = rest[index].popFirst() else { continue }
        let one = Begun(
          here: Key(partition: partition, text: push.text), push: push, task: PushTask(text: push.text))
        if underWay[one.here] != nil { continue }
        if isLeftAlone(one.here) {
          if putOff.count < Self.putOffMax {
            underWay[one.here] = Place.none
            putOff.append(one)
          }
          continue
        }
        let account = one.task?.account
        if shares.take(for: account) == nil {
          underWay[one.here] = .taken(account)
          begun.append(one)
        } else if let account, shares.taken(by: account) >= Self.putOffFrom, putOff.count < Self.putOffMax {
          underWay[one.here] = Place.none
          putOff.append(one)
        }
        // A push that does not begin is still due when places are free again.
      }
    }
    return (begun, putOff)
  }

  /// The push has ended and cannot be noted as done. It counts as under way and takes no place.
  package mutating func setAside(_ here: Key) {
    guard case .taken(let account)? = underWay[here] else { return }
    shares.giveBack(of: account)
    underWay[here] = Place.none
  }

  /// To call once for each push, when it has ended.
  package mutating func giveBack(_ here: Key) {
    if case .taken(let account)? = underWay.removeValue(forKey: here) { shares.giveBack(of: account) }
  }
}
