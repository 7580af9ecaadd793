/// Everything has a limit. A limit that a deployment may change is a field here, with its default; a limit that
/// protects the broker itself is a constant. scripts/docs/limits.toml lists them all with their reasons; `scripts/limits`
/// writes docs/limits.md from it.
package struct Limits: Sendable, Hashable, Codable {
  /// Above this member count a server's broadcasts reach subscribers only.
  package var subscriptionThreshold = 2_000
  package var retentionMilliseconds: Int64 = 7 * 24 * 3_600_000
  package var entriesPerSpace = 100_000
  /// How long a repeated `messageClientId` is recognised.
  package var dedupeWindowMilliseconds: Int64 = 3_600_000
  package var channelsPerServer = 100
  package var membersPerServer = 5_000_000
  package var serversPerAccount = 2_000
  package var groupsPerAccount = 2_000
  /// Rooms that an account may be in at a time.
  package var roomsPerAccount = 20
  /// A group is a conversation: everybody in it receives everything, whatever the threshold.
  package var membersPerGroup = 5_000
  package var attendeesPerRoom = 100_000
  /// How often an attendee of a room should give a sign of life, and after how long without one it is out.
  package var heartbeatMilliseconds: Int64 = 10_000
  package var absenceMilliseconds: Int64 = 35_000
  package var invitationMilliseconds: Int64 = 7 * 24 * 3_600_000
  package var inviteCodeMilliseconds: Int64 = 30 * 24 * 3_600_000
  /// How long a listener may think about going on stage.
  package var stageInvitationMilliseconds: Int64 = 60_000
  /// Streams one account may hold open on one broker: devices, tabs, and some to spare.
  package var streamsPerAccount = 32
  /// Rates per account. A request that writes counts as sends, by what it causes; one that reads as reads.
  package var sendsPerSecondPerAccount = 100
  package var readsPerSecondPerAccount = 100
  /// Unread entries of a personal space, and direct messages in an index. What would exceed the limit is refused; nothing
  /// that waits is dropped.
  package var notificationsPerMailbox = 10_000
  package var directMessagesPerMailbox = 2_000
  /// Of both together what one user may have written since the account last marked something read.
  package var unreadPerSender = 500

  package init() {}

  package func retentionFloor(nowMilliseconds: Int64) -> MessageID {
    MessageID(firstAtUnixMilliseconds: nowMilliseconds - retentionMilliseconds)
  }
}

extension Limits {
  /// How many spaces of a kind an account may be in.
  package func spacesPerAccount(_ kind: SpaceKind) -> Int {
    switch kind {
    case .server: serversPerAccount
    case .group: groupsPerAccount
    case .room: roomsPerAccount
    case .account, .direct: .max
    }
  }

  /// In how many spaces of a kind an account may be for others to add it to one more without asking. The rest is for
  /// spaces it joins by itself.
  package func forcedSpacesPerAccount(_ kind: SpaceKind) -> Int {
    switch kind {
    case .server, .group: spacesPerAccount(kind) / 2
    // Nobody is put into one.
    case .room, .account, .direct: spacesPerAccount(kind)
    }
  }
}

extension Limits {
  /// Admins are part of the settings, which every operation reads, and of audiences.
  package static let adminsPerSpace = 100
  /// Spaces that an account has left within retention, and may still have something unread of.
  package static let leftSpacesPerAccount = 2_000
  /// Invitations and applications that wait in one space.
  package static let requestsPerSpace = 100_000
  /// Accounts that hear the answer to one invitation. They stand in its record, and by name in the answer.
  package static let invitersPerRequest = 10
  /// Places whose invitations are listed for an account. All of them are looked at for a page.
  package static let invitationsPerAccount = 1_000
  package static let inviteCodesPerServer = 1_000
  /// Accounts banned from a server or blocked from a group.
  package static let bannedPerSpace = 100_000
  /// Accounts that one account blocks.
  package static let blockedPerAccount = 1_000
  package static let filesPerGroup = 1_000
  /// A member's attributes in a group, as JSON: an announcement has all of them.
  package static let attributesBytes = 4 * 1_024
  package static let announcementCharacters = 1_024
  package static let urlBytes = 2 * 1_024
  /// Accounts in one call that asks or changes something of each: invite, mute, list, remove.
  package static let accountsPerCall = 500
  /// Servers, and channels, in one call that subscribes to them. Each server is a transaction of its own.
  package static let subscriptionsPerCall = 100
  /// Accounts muted in, allow-listed for or blocked from one channel. Such a list outlasts memberships.
  package static let accountsPerList = 10_000
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
  /// Spaces in which an entry is searched by its id alone. Any caller may ask for any id.
  package static let spacesPerLocating = 4_096
  /// Pairs of an account and a space that are checked to find which accounts share a space with the actor.
  package static let spacesPerCompanyQuestion = 50_000
  /// So many who join a group together are each told of the others; more are told of all by one entry.
  package static let joinedTogether = 10
  /// What `maxMembers` of a channel can be at most, whatever a server may have.
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
  /// Deep enough for any payload people write, shallow enough for a recursive reader's stack.
  package static let jsonDepth = 32
  package static let pageMembers = 100
  package static let pageMembersMaximum = 1_000
  package static let pageNotifications = 50
  package static let pageNotificationsMaximum = 500
  /// What an account says of what it wants to hear: all of it is looked at for each entry.
  package static let preferencesPerAccount = 100
  package static let typesPerPreference = 100
  /// Devices that an account is pushed to: each notification is a request for each of them.
  package static let pushersPerAccount = 20
  /// The most unread notifications that are counted. A count reads what a feed of as many reads.
  package static let countedUnread = 10_000
}
