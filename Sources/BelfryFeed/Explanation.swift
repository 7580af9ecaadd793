package import BelfryModel
import BelfryStore

/// Why an account did, does not, or will not see a notification, in words and as data.
package struct Explanation: Sendable, Hashable, Codable {
  package struct Facts: Sendable, Hashable, Codable {
    package var space: String?
    package var audience: String?
    /// Milliseconds since 1970, as are the others.
    package var sentAt: Int64
    /// Nil if the index does not tell when the account joined: it keeps that only while the account is a member.
    package var memberSince: Int64?
    package var memberUntil: Int64?
    /// True if the account is subscribed now. Records do not tell the time: a subscription begins after an id that may have
    /// been given long before.
    package var subscribed: Bool?
    package var named: Bool?
    /// Nil if the notification was not for the account. A mark of everything up to a later one covers it all the same.
    package var read: Bool?
    package var expireAt: Int64?
    package var recalledAt: Int64?
    package var recalledBy: String?
  }

  package var visible: Bool
  /// A stable word: one of ``Visibility``'s, `trimmed` or `notIndexed`.
  package var reason: String
  package var detail: String
  package var facts: Facts
}

extension FeedReader {
  package func explain(_ id: MessageID, account: AccountID) async throws(Refusal) -> Explanation {
    let snapshot: FeedSnapshot
    var view: AccountView
    do throws(StoreError) {
      snapshot = try await FeedSnapshot.take(of: account, from: store)
      view = snapshot.view
      view.read = try await store.readState(of: account, among: [id])
    } catch {
      throw error.refusal
    }
    let floor = limits.retentionFloor(nowMilliseconds: snapshot.takenAtMilliseconds)
    let located: LocatedEntry
    let recalled: UpdateRecord?
    let forgotten: Membership?
    do {
      located = try await find(id, for: account)
      recalled = try await recall(of: located)
      forgotten = try await membershipForgotten(by: view, in: located.space)
    } catch  where error.code == .notFound {
      return try explainAbsence(of: id, view, snapshot, floor, otherwise: error)
    }
    if let forgotten { view.memberships[located.space] = forgotten }
    let verdict = view.visibility(of: located, limits, nowMilliseconds: snapshot.takenAtMilliseconds)
    var explanation = Explanation(
      verdict, located, view, recalled, nowMilliseconds: snapshot.takenAtMilliseconds)
    if forgotten != nil, explanation.visible { explanation.takeBack(for: account, in: located.space) }
    return explanation
  }

  /// The account's membership in a space, if the account's index does not know of it. Nil otherwise.
  private func membershipForgotten(
    by view: AccountView, in space: SpaceID
  ) async throws(Refusal) -> Membership? {
    switch space.kind {
    case .account, .direct: return nil
    case .server, .group, .room: break
    }
    do throws(StoreError) {
      guard let record = try await store.memberRecords(of: view.account, in: [space])[0],
        let standing = StandingMembership(view.account, record),
        !standing.isKnown(to: view.index.first { $0.space == space })
      else { return nil }
      return record.membership
    } catch {
      throw error.refusal
    }
  }

  /// The record of a recall. Nil if the notification was not recalled.
  private func recall(of located: LocatedEntry) async throws(Refusal) -> UpdateRecord? {
    guard located.entry.isRecalled else { return nil }
    let address = RecordAddress.update(located.entry.id, in: located.space)
    do throws(StoreError) {
      return try await store.records([address]).text(address).flatMap {
        RecordJSON.value(UpdateRecord.self, $0)
      }
    } catch {
      throw error.refusal
    }
  }

  /// For an id that no entry has: the entry was deleted when all had read it, or trimmed, or there never was one.
  private func explainAbsence(
    of id: MessageID, _ view: AccountView, _ snapshot: FeedSnapshot, _ floor: MessageID,
    otherwise refusal: Refusal
  ) throws(Refusal) -> Explanation {
    let isRead = snapshot.spacesBelongedTo(at: id).contains { view.read.contains(id, in: $0) }
    let facts = Explanation.Facts(sentAt: id.unixMilliseconds, read: isRead ? true : nil)
    if id < floor {
      return Explanation(
        visible: false, reason: Visibility.Exclusion.beyondRetention.rawValue,
        detail:
          "A notification with this id would be older than the retention time, so it is no longer kept.",
        facts: facts)
    }
    if isRead {
      return Explanation(
        visible: false, reason: Visibility.Exclusion.read.rawValue,
        detail:
          "Everybody it was for has marked it read, \(view.account) too, so it is no longer kept.",
        facts: facts)
    }
    if let space = snapshot.spaceTrimmed(through: id) {
      return Explanation(
        visible: false, reason: Self.trimmed,
        detail:
          "\(space) keeps only its latest notifications, and those of that time have been removed. If the notification was sent"
          + " there, it was removed with them.",
        facts: Explanation.Facts(
          space: space.key, sentAt: id.unixMilliseconds, read: view.read.contains(id, in: space)))
    }
    if let joined = snapshot.spaceJoinedAfter(id) {
      return Explanation(
        visible: false, reason: Visibility.Exclusion.joinedAfter.rawValue,
        detail:
          "It was not found. \(view.account) joined \(joined) later, and does not see notifications that were sent there before.",
        facts: Explanation.Facts(
          sentAt: id.unixMilliseconds,
          memberSince: view.memberSince(joined, noLaterThan: snapshot.takenAtMilliseconds)))
    }
    throw refusal
  }

  /// The reason where a log's limit on its length took the entry before its time.
  private static let trimmed = "trimmed"
}

extension Explanation {
  /// The account would see it by the roster, but not by its index.
  fileprivate mutating func takeBack(for account: AccountID, in space: SpaceID) {
    visible = false
    reason = Self.notIndexed
    detail =
      "\(account) is a member of \(space), but the list of the account's spaces lacks it, so the account's feed does not show "
      + "it. This list is a few seconds late at most. If it still lacks the space later, Redis has lost a part of the list: "
      + "add the account to the space again, which repairs the list, or wait until the sweep repairs it."
  }

  /// The reason where an account's index has forgotten a space that the account is in.
  private static let notIndexed = "notIndexed"
}

extension FeedSnapshot {
  /// A space of the account from which everything up to the id and beyond was trimmed by length, at a time at which the
  /// account belonged to the space. An id names only its partition, so another space of it may have had the entry.
  fileprivate func spaceTrimmed(through id: MessageID) -> SpaceID? {
    ends.first { space, _, lostThrough in
      id <= lostThrough && partitions.may(partition(of: space), hold: id)
        && view.membership(in: space).intervals.contains(id)
    }?.space
  }

  /// The account's spaces whose logs may have had an entry with this id, at a time at which the account belonged to them.
  fileprivate func spacesBelongedTo(at id: MessageID) -> [SpaceID] {
    spaces(ofPartitionHolding: id).filter { view.membership(in: $0).intervals.contains(id) }
  }

  /// A space of the account whose log may have had an entry with this id before the account first joined.
  fileprivate func spaceJoinedAfter(_ id: MessageID) -> SpaceID? {
    spaces(ofPartitionHolding: id).first { space in
      let intervals = view.membership(in: space).intervals
      return !intervals.isEmpty && intervals.all.allSatisfy { id <= $0.after }
    }
  }

  private func spaces(ofPartitionHolding id: MessageID) -> [SpaceID] {
    ([.personal(view.account)] + view.index.map(\.space)).filter {
      partitions.may(partition(of: $0), hold: id)
    }
  }
}

extension AccountView {
  /// When the account joined the space, milliseconds since 1970. Nil if it is no member, or if its index has not learned of
  /// the present membership.
  ///
  /// A membership interval begins after the last id before the commit, which may be hours older. The index has the id that
  /// the commit took itself.
  ///
  /// - Parameter bound: a time at which the account had joined already. The time of an id may be seconds ahead of the clock.
  fileprivate func memberSince(_ space: SpaceID, noLaterThan bound: Int64) -> Int64? {
    switch space.kind {
    case .account, .direct: return nil
    case .server, .group, .room: break
    }
    guard let interval = membership(in: space).intervals.current,
      let entry = index.first(where: { $0.space == space }), entry.isMember, interval.after < entry.version
    else { return nil }
    return min(entry.version.unixMilliseconds, bound)
  }
}

extension Explanation {
  fileprivate init(
    _ verdict: Visibility, _ located: LocatedEntry, _ view: AccountView, _ recalled: UpdateRecord?,
    nowMilliseconds: Int64
  ) {
    let id = located.entry.id
    // The times of ids may be seconds ahead of the clock, so times of joining and leaving are bounded by it, and by the time
    // of sending if they came before.
    func bound(_ change: MessageID) -> Int64 {
      change < id ? min(located.entry.time, nowMilliseconds) : nowMilliseconds
    }
    let audience = located.entry.audience
    let membership = view.membership(in: located.space)
    let subscription =
      audience.channel.map { membership.channels[$0]?.subscription ?? Intervals() } ?? membership.subscription
    // Nobody is a member of a place that a notification to accounts makes.
    let intervals = located.space.kind.hasMembers ? membership.intervals.all : []
    let interval = intervals.last { $0.after < id } ?? intervals.first
    let wasForAccount = Visibility.asSent(
      id, audience, for: view.account, membership: membership, retentionFloor: .zero
    ).isVisible
    let facts = Facts(
      space: located.space.key, audience: audience.text, sentAt: located.entry.time,
      memberSince: interval.flatMap { interval in
        interval.through == nil ? view.memberSince(located.space, noLaterThan: bound(interval.after)) : nil
      },
      memberUntil: interval?.through.map { min($0.unixMilliseconds, bound($0)) },
      subscribed: subscription.current == nil ? nil : true,
      named: audience.named.contains(view.account),
      read: wasForAccount ? view.read.contains(id, in: located.space) : nil,
      expireAt: audience.expiresAt, recalledAt: recalled?.updateTime,
      recalledBy: recalled.map { $0.recall?.by?.text ?? "a trusted caller" })
    switch verdict {
    case .visible(let why):
      let detail = why.sentence(view.account, audience.place(in: located.space))
      self.init(visible: true, reason: why.rawValue, detail: detail, facts: facts)
    case .hidden(let why):
      let detail = why.sentence(view.account, audience, audience.place(in: located.space))
      self.init(visible: false, reason: why.rawValue, detail: detail, facts: facts)
    }
  }
}

extension Visibility.Inclusion {
  fileprivate func sentence(_ account: AccountID, _ place: String) -> String {
    switch self {
    case .named:
      "It names \(account) as a receiver, or it is about \(account); no subscription is needed."
    case .openToAll: "It went to everybody \(place), and \(account) belonged there when it was sent."
    case .subscribedBefore:
      "It went to subscribers \(place), and \(account) had subscribed before it was sent."
    }
  }
}

extension Visibility.Exclusion {
  fileprivate func sentence(_ account: AccountID, _ audience: Audience, _ place: String) -> String {
    switch self {
    case .neverMember:
      "\(account) is not a member of the space it was sent to, and was not one when it was sent."
    case .joinedAfter: "\(account) joined after it was sent."
    case .leftBefore: "\(account) had left before it was sent."
    case .leftSince:
      "Accounts see it only while they are in the room, and \(account) has left the room since it was sent."
    case .leftOut: "It was sent with exceptions, and \(account) is one of them."
    case .notNamed: "It was sent to named accounts only, and \(account) is not one of them."
    case .notInChannel: "\(account) was not in channel \(audience.channel?.text ?? "") when it was sent."
    case .blocked:
      "\(account) was on the block list of channel \(audience.channel?.text ?? "") when it was sent."
    case .stopped: "\(account) had stopped receiving the group's custom notifications before it was sent."
    case .notSubscribed:
      "The server had more members than its subscription threshold, so it went only to subscribers \(place); \(account) has no such subscription."
    case .subscribedAfter:
      "It went to subscribers \(place), and \(account) subscribed only after it was sent."
    case .subscriptionEndedBefore:
      "It went to subscribers \(place), and \(account) had ended the subscription before it was sent."
    case .read: "\(account) has marked it read, so no device is shown it again."
    case .recalled: "It was recalled, so nobody is shown it any more."
    case .expired: "It has expired, because the time that its sender set has passed."
    case .notWanted: "The account's preferences hide it: \(account) chose not to receive it."
    case .beyondRetention: "It is older than the retention time."
    }
  }
}

extension Audience {
  fileprivate func place(in space: SpaceID) -> String {
    if let channel { return "of channel \(channel)" }
    return switch space.kind {
    case .server, .group, .room: "of the \(space.kind.rawValue)"
    case .account, .direct: "it was sent to"
    }
  }
}
