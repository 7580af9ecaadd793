/// Everything has a limit. A limit that a deployment may change is a field here, with its default; a limit that
/// protects the broker itself is a constant. scripts/docs/limits.toml lists them all with their reasons; `scripts/limits`
/// writes docs/limits.md from it.
package struct Limits: Sendable, Hashable, Codable {
  /// Above this member count a server's broadcasts reach subscribers only.
  package var subscriptionThreshold = 2_000
  package var retentionMilliseconds: Int64 = 7 * 24 * 3_600_000
  package var entriesPerSpace = 100_000
  /// A repeated `messageClientId` is recognised for so long.
  package var dedupeWindowMilliseconds: Int64 = 3_600_000
  package var channelsPerServer = 100
  package var membersPerServer = 5_000_000
  package var serversPerAccount = 2_000
  package var groupsPerAccount = 2_000
  /// The most rooms that an account may be in at a time.
  package var roomsPerAccount = 20
  /// A group is a conversation: every member receives everything, so it has no threshold.
  package var membersPerGroup = 5_000
  package var attendeesPerRoom = 100_000
  /// An attendee of a room should give a sign of life at this interval, and leaves the room after so long
  /// without one.
  package var heartbeatMilliseconds: Int64 = 10_000
  package var absenceMilliseconds: Int64 = 35_000
  package var invitationMilliseconds: Int64 = 7 * 24 * 3_600_000
  package var inviteCodeMilliseconds: Int64 = 30 * 24 * 3_600_000
  /// A listener may think about going on stage for so long.
  package var stageInvitationMilliseconds: Int64 = 60_000
  /// The most streams that one account may hold open on one broker: devices, tabs, and some to spare.
  package var streamsPerAccount = 32
  /// Rates per account. A request that writes counts as sends, by its effects; a request that only reads
  /// counts as reads.
  package var sendsPerSecondPerAccount = 100
  package var readsPerSecondPerAccount = 100
  /// The most unread entries of a personal space, and direct messages in an index. An entry that would exceed
  /// the limit is refused; no unread entry is dropped.
  package var notificationsPerMailbox = 10_000
  package var directMessagesPerMailbox = 2_000
  /// The most entries of both kinds together that one user may have written since the account last marked an
  /// entry read.
  package var unreadPerSender = 500

  package init() {}

  package func retentionFloor(nowMilliseconds: Int64) -> MessageID {
    MessageID(firstAtUnixMilliseconds: nowMilliseconds - retentionMilliseconds)
  }

  /// One more retention back. A reader who comes later is not told any more that entries before this id are gone, so nobody needs
  /// to know who could see them.
  package func forgottenFloor(nowMilliseconds: Int64) -> MessageID {
    retentionFloor(nowMilliseconds: nowMilliseconds - retentionMilliseconds)
  }

  /// The most channels of a server that a member's record names, for any number of channels that a server may have.
  package var channelsNamedPerMember: Int { max(Self.channelsPerMember, 2 * channelsPerServer) }
}

extension Limits {
  /// The most spaces of a kind that an account may be in.
  package func spacesPerAccount(_ kind: SpaceKind) -> Int {
    switch kind {
    case .server: serversPerAccount
    case .group: groupsPerAccount
    case .room: roomsPerAccount
    case .account, .direct: .max
    }
  }

  /// The most spaces of a kind that an account may be in for others to add it to one more without asking. The
  /// rest is for spaces that it joins by itself.
  package func forcedSpacesPerAccount(_ kind: SpaceKind) -> Int {
    switch kind {
    case .server, .group: spacesPerAccount(kind) / 2
    // Nobody is put into one of these.
    case .room, .account, .direct: spacesPerAccount(kind)
    }
  }
}

extension Limits {
  /// Admins are part of the settings, which every operation reads, and of audiences.
  package static let adminsPerSpace = 100
  /// The most spaces that an account has left within retention, in which it may still have unread entries.
  package static let leftSpacesPerAccount = 2_000
  /// The most invitations and applications that wait in one space.
  package static let requestsPerSpace = 100_000
  /// How long the owner and the admins are not told again of an application whose words change.
  package static let applicationPauseMilliseconds: Int64 = 10 * 60_000
  /// The most accounts that hear the answer to one invitation. The invitation's record has them, and the
  /// answer names them.
  package static let invitersPerRequest = 10
  /// The most places whose invitations are listed for an account. A page looks at all of them.
  package static let invitationsPerAccount = 1_000
  package static let inviteCodesPerServer = 1_000
  /// Accounts banned from a server or blocked from a group.
  package static let bannedPerSpace = 100_000
  /// The most accounts that one account blocks.
  package static let blockedPerAccount = 1_000
  package static let filesPerGroup = 1_000
  /// A member's attributes in a group, as JSON: an announcement has all of them.
  package static let attributesBytes = 4 * 1_024
  package static let announcementCharacters = 1_024
  package static let urlBytes = 2 * 1_024
  /// The most accounts in one call that asks or changes something for each: invite, mute, list, remove.
  package static let accountsPerCall = 500
  /// The most servers, and channels, in one call that subscribes to them. Each server is a transaction of its
  /// own.
  package static let subscriptionsPerCall = 100
  /// The most accounts muted in, allow-listed for or blocked from one channel. Such a list outlasts
  /// memberships.
  package static let accountsPerList = 10_000
  /// The most channels of a server that an account belongs or belonged to, those that were removed within retention included.
  package static let channelsPerMember = 1_000
  package static let messageCharacters = 512
  /// The longest mute, a year.
  package static let muteMaximumMilliseconds: Int64 = 366 * 24 * 3_600_000
  package static let bodyBytes = 4 * 1_024
  package static let extBytes = 4 * 1_024
  package static let attachBytes = 4 * 1_024
  package static let pushPayloadBytes = 2 * 1_024
  package static let pushContentCharacters = 500
  package static let namedReceivers = 500
  package static let itemsPerMarkRead = 500
  package static let notificationsPerBatch = 1_000
  /// The most spaces in which an entry is searched by its id alone. Any caller may ask for any id.
  package static let spacesPerLocating = 4_096
  /// The most pairs of an account and a space that are checked to find which accounts share a space with the
  /// actor.
  package static let spacesPerCompanyQuestion = 50_000
  /// If so many or fewer join a group together, each is told of the others. More are told of all by one
  /// entry.
  package static let joinedTogether = 10
  /// The largest `maxMembers` of a channel, for any limit of a server.
  package static let channelMembersMaximum = 10_000_000
  package static let membersPerCall = 1_000
  package static let messageClientIdBytes = 128
  package static let nickCharacters = 64
  package static let nameCharacters = 128
  package static let descriptionCharacters = 1_024
  package static let iconBytes = 1_024
  package static let envBytes = 64
  package static let clientTypeBytes = 32
  package static let callbackExtBytes = 4 * 1_024
  /// Deep enough for the payloads that people write, and shallow enough for a recursive reader's stack.
  package static let jsonDepth = 32
  package static let pageMembers = 100
  package static let pageMembersMaximum = 1_000
  package static let pageNotifications = 50
  package static let pageNotificationsMaximum = 500
  /// The most preferences of an account, and types in one of them: all of them are looked at for each entry.
  package static let preferencesPerAccount = 100
  package static let typesPerPreference = 100
  /// The most devices that an account is pushed to: each notification is a request for each of them.
  package static let pushersPerAccount = 20
  /// The most unread notifications that are counted. A count reads what a feed of as many reads.
  package static let countedUnread = 10_000
}
