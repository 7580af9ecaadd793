/// Everything has a limit. What a deployment may want otherwise is a field here, with its default; what
/// protects the broker itself is a constant. docs/limits.md lists them all with their reasons.
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
  /// Streams one account may hold open on one broker: devices, tabs, and some to spare.
  package var streamsPerAccount = 32
  package var sendsPerSecondPerAccount = 100

  package init() {}

  package func retentionFloor(nowMilliseconds: Int64) -> MessageID {
    MessageID(firstAtUnixMilliseconds: nowMilliseconds - retentionMilliseconds)
  }
}

extension Limits {
  package static let bodyBytes = 4 * 1_024
  package static let extBytes = 4 * 1_024
  package static let attachBytes = 4 * 1_024
  package static let pushPayloadBytes = 2 * 1_024
  package static let pushContentCharacters = 500
  package static let namedReceivers = 500
  package static let itemsPerMarkRead = 500
  package static let notificationsPerBatch = 1_000
  /// Unread letters in an account's index, beside its servers. The index is read as a whole when a
  /// consumer connects, and anybody may write a letter: beyond this the oldest give way.
  package static let lettersPerAccount = 2_000
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
}
