/// One type of notification: a row of the ``Catalogue``.
package struct NotificationType: Sendable, Hashable {
  /// The kind of place in which its event happens.
  package enum Scene: String, Sendable, CaseIterable {
    case server, channel, group, room
    /// The place that the sender names.
    case any
  }

  /// The receivers in addition to the parties.
  package enum Others: String, Sendable, CaseIterable {
    case nobody
    /// The owner and the admins of the space.
    case administrators
    /// The server's members, under the threshold rule.
    case members
    /// Every member, even above the threshold.
    case everyMember
    /// The accounts that belong to the channel, under the threshold rule.
    case channel
    /// The receivers that the sender names.
    case asSent
  }

  /// Says if the account that acts receives the notification of its own act.
  package enum OperatorPart: String, Sendable {
    case likeOthers, leftOut
    /// Left out if the channel keeps a roster of its own.
    case leftOutOfRosters
  }

  /// The accounts that may change its body, ext and status after it was sent. Trusted callers may as well.
  package enum Updaters: String, Sendable {
    case nobody, sender, receivers
  }

  /// The time for which the accounts that the rule describes are shown it.
  package enum Lasting: String, Sendable {
    /// Until they have read it.
    case untilRead
    /// Only while they are inside the space, without having left it since.
    case whileInside
  }

  /// The accounts for which the type is critical: they receive it in spite of their preferences.
  package enum Critical: String, Sendable {
    case nobody
    /// The accounts that it concerns.
    case parties
    case everybody
  }

  package var code: Int
  package var name: String
  package var scene: Scene
  /// Another kind of place in which it happens too.
  package var otherScene: Scene?
  /// The fields of its `attach`.
  package var attach: [String]
  /// The accounts that the event happened to, in words. They receive it with no subscription, and in their
  /// personal space if they do not belong to this one.
  package var parties: String?
  package var others: Others
  /// The other accounts that do not receive it, in words.
  package var except: String?
  package var operatorPart: OperatorPart
  package var updaters: Updaters
  package var critical: Critical
  package var lasting: Lasting

  init(
    _ code: Int, _ name: String, in scene: Scene, or otherScene: Scene? = nil, attach: [String] = [],
    parties: String? = nil,
    others: Others = .nobody, except: String? = nil, operator operatorPart: OperatorPart = .likeOthers,
    updatedBy updaters: Updaters = .nobody, critical: Critical = .nobody, lasting: Lasting = .untilRead
  ) {
    self.code = code
    self.name = name
    self.scene = scene
    self.otherScene = otherScene
    self.attach = attach
    self.parties = parties
    self.others = others
    self.except = except
    self.operatorPart = operatorPart
    self.updaters = updaters
    self.critical = critical
    self.lasting = lasting
  }
}

extension NotificationType {
  /// The channel an event happened in.
  package struct ChannelScene: Sendable, Hashable {
    package var id: EntityID
    package var hasRoster: Bool
    package var isPrivate: Bool

    package init(_ id: EntityID, hasRoster: Bool, isPrivate: Bool = false) {
      self.id = id
      self.hasRoster = hasRoster
      self.isPrivate = isPrivate
    }
  }

  /// The audience of one event of this type.
  /// - Parameters:
  ///   - happensToAll: true if every member is a party to it, or everyone who sees the channel.
  ///   - only: limits the receivers to these; nil: all of them.
  package func audience(
    parties: [AccountID] = [], happensToAll: Bool = false, administrators: [AccountID] = [],
    actor: AccountID? = nil, channel: ChannelScene? = nil, except: [AccountID] = [],
    only: [AccountID]? = nil
  ) -> Audience {
    if let only { return Audience(.named, isMomentary: lasting == .whileInside, named: only) }
    let rule: Audience.Rule =
      switch others {
      case _ where happensToAll: channel?.isPrivate == true ? .viewers : .all
      case .nobody, .administrators: .named
      case .members, .channel, .asSent: .byThreshold
      case .everyMember: .all
      }
    let isOfChannel = others == .channel || (happensToAll && scene == .channel)
    var leftOut = except
    if leavesOutActor(in: channel), let actor { leftOut.append(actor) }
    let named = (parties + (others == .administrators ? administrators : [])).withoutRepeats
    return Audience(
      rule, isMomentary: lasting == .whileInside, channel: isOfChannel ? channel?.id : nil,
      channelHasRoster: isOfChannel && !happensToAll && channel?.hasRoster == true,
      named: named.filter { !leftOut.contains($0) }, except: rule == .named ? [] : leftOut.withoutRepeats)
  }

  private func leavesOutActor(in channel: ChannelScene?) -> Bool {
    switch operatorPart {
    case .likeOthers: false
    case .leftOut: true
    case .leftOutOfRosters: channel?.hasRoster == true
    }
  }
}

extension [AccountID] {
  /// Each account once, in the order of their first mention, so that no account joins, leaves or is told
  /// twice in one step.
  package var withoutRepeats: [AccountID] {
    var seen: Set<AccountID> = []
    return filter { seen.insert($0).inserted }
  }
}

extension NotificationType {
  /// The type in the form in which the command line and HTTP show it to programs.
  package var info: JSONValue {
    [
      "code": .integer(Int64(code)), "name": .string(name), "in": .string(scene.rawValue),
      "attach": .array(attach.map { .string($0) }), "receivers": .string(receivers),
      "updatedBy": .string(updaters.rawValue), "critical": .string(critical.rawValue),
    ]
  }
}
