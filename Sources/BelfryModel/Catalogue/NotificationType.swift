/// One type of notification: a row of the ``Catalogue``.
package struct NotificationType: Sendable, Hashable {
  /// Who receives it beside the parties.
  package enum Others: String, Sendable {
    case nobody
    /// The server's members, under the threshold rule.
    case members
    /// Every member, whatever the threshold.
    case everyMember
    /// Who belongs to the channel, under the threshold rule.
    case channel
    /// Who belongs to the channel, whatever the threshold.
    case everyoneInChannel
    /// As the sender says.
    case asSent
  }

  package var code: Int
  package var name: String
  /// The fields of its `attach`.
  package var attach: [String]
  /// The accounts it happened to, in words; they receive it with no subscription.
  package var parties: String?
  package var others: Others
  /// Body, ext and status may be changed after it was sent.
  package var mayBeUpdated: Bool

  init(
    _ code: Int, _ name: String, attach: [String] = [], parties: String? = nil, others: Others = .nobody,
    mayBeUpdated: Bool = false
  ) {
    self.code = code
    self.name = name
    self.attach = attach
    self.parties = parties
    self.others = others
    self.mayBeUpdated = mayBeUpdated
  }
}

extension NotificationType {
  /// The audience of one event of this type.
  package func audience(
    parties: [AccountID] = [], channel: (id: EntityID, record: ChannelRecord)? = nil, except: [AccountID] = []
  ) -> Audience {
    let rule: Audience.Rule =
      switch others {
      case .nobody: .named
      case .members, .channel, .asSent: .byThreshold
      case .everyMember, .everyoneInChannel: .all
      }
    let isOfChannel = others == .channel || others == .everyoneInChannel
    return Audience(
      rule, channel: isOfChannel ? channel?.id : nil,
      channelHasRoster: isOfChannel && channel?.record.hasRoster == true, named: parties, except: except)
  }
}
