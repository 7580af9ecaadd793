import BelfryLoop
package import BelfryModel
package import BelfryStore

/// The pushes that one loop has under way. The accounts share the places. It is a value: it decides which pushes begin, and
/// the dispatcher begins them.
package struct PushPlaces {
  package static let countMax = 256
  /// If an account has at least so many pushes under way and these are slow, its other due pushes are put off. Otherwise the
  /// pushes that wait for its slow devices would be the only due ones that are found.
  package static let putOffFrom = 4
  /// After so many looks, which take a second, an account that has its share is judged. Its devices are slow if fewer than half
  /// of its pushes that were under way have ended. A burst to quick devices just takes its turns.
  static let looksUntilJudged = 4
  /// How many pushes are put off at one look.
  static let putOffMax = 500
  /// So many due pushes of a partition are looked at. If there are more, an account that has its share makes room: its other
  /// pushes are put off briefly, even if its devices are quick. Otherwise one account could hide the pushes of all others.
  package static let windowMax = 2_048

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
    /// True if it is put off only until others have had their turn.
    package var isBrief = false
  }

  /// The pushes that begin now, and those that are put off.
  package struct Look {
    package var begun: [Begun] = []
    package var putOff: [Begun] = []
    /// In each partition, how many stay due since their account has its share.
    package var refused: [Int]
  }

  private enum Place {
    /// Nil if no account is known.
    case taken(AccountID?)
    /// The push is put off or set aside, and takes no place.
    case none
  }

  /// How the pushes of an account go on that has its share.
  private struct Progress {
    var underWay: Int
    var ended = 0
    var looks = 0
    var isSlow = false
  }

  private var shares: FairShares<AccountID>
  /// Only accounts that had their share at a recent look are in here.
  private var progress: [AccountID: Progress] = [:]
  private var underWay: [Key: Place] = [:]

  package init(count: Int = Self.countMax) { shares = FairShares(total: count) }

  package var freeCount: Int { shares.total - shares.takenByAll }
  package var isUnused: Bool { underWay.isEmpty }

  /// Takes one push of each partition in turn, so that a broadcast does not keep the others waiting.
  /// - Parameters:
  ///   - due: the due pushes of each partition, including those under way.
  ///   - isLeftAlone: true for a push whose receiver gets no requests at present.
  package mutating func take(
    for due: [[DuePush]], in partitions: [Partition], most: Int,
    isLeftAlone: (Key) -> Bool = { _ in false }
  ) -> Look {
    var look = Look(refused: due.map { _ in 0 })
    var rest = due.map { $0[...] }
    var withTheirShare: Set<AccountID> = []
    while look.begun.count < most, rest.contains(where: { !$0.isEmpty }) {
      for (index, partition) in partitions.enumerated() where look.begun.count < most {
        guard let push = rest[index].popFirst() else { continue }
        let here = Key(partition: partition, text: push.text)
        if underWay[here] != nil { continue }
        var one = Begun(here: here, push: push, task: PushTask(text: push.text))
        if isLeftAlone(one.here) {
          putOff(one, &look)
          continue
        }
        let account = one.task?.account
        if shares.take(for: account) == nil {
          underWay[one.here] = .taken(account)
          look.begun.append(one)
        } else if let account, shares.taken(by: account) >= Self.putOffFrom {
          if withTheirShare.insert(account).inserted { noteLook(at: account) }
          one.isBrief = progress[account]?.isSlow != true
          guard !one.isBrief || due[index].count >= Self.windowMax, putOff(one, &look) else {
            look.refused[index] += 1
            continue
          }
        }
        // A push that does not begin is still due when places are free again.
      }
    }
    progress = progress.filter {
      withTheirShare.contains($0.key) || shares.taken(by: $0.key) >= Self.putOffFrom
    }
    return look
  }

  /// - Returns: false if as many are put off at this look as may be.
  @discardableResult
  private mutating func putOff(_ one: Begun, _ look: inout Look) -> Bool {
    guard look.putOff.count < Self.putOffMax else { return false }
    underWay[one.here] = Place.none
    look.putOff.append(one)
    return true
  }

  private mutating func noteLook(at account: AccountID) {
    let underWay = shares.taken(by: account)
    var one = progress[account] ?? Progress(underWay: underWay)
    one.looks += 1
    if one.looks > Self.looksUntilJudged {
      one = Progress(underWay: underWay, looks: 1, isSlow: one.ended * 2 < one.underWay)
    }
    progress[account] = one
  }

  /// The push has ended and cannot be noted as done. It counts as under way and takes no place.
  package mutating func setAside(_ here: Key) {
    guard case .taken(let account)? = underWay[here] else { return }
    end(of: account)
    underWay[here] = Place.none
  }

  /// To call once for each push, when it has ended.
  package mutating func giveBack(_ here: Key) {
    if case .taken(let account)? = underWay.removeValue(forKey: here) { end(of: account) }
  }

  private mutating func end(of account: AccountID?) {
    shares.giveBack(of: account)
    if let account { progress[account]?.ended += 1 }
  }
}
