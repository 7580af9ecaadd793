package import BelfryModel

/// A space, or a channel of a server, that an account was invited to.
///
/// The invitation itself is a request of the space, in the space's partition. The account's own partition only knows the place,
/// so that the account can list its invitations without a look into every space there is.
package struct InvitationPlace: Sendable, Hashable {
  package var space: SpaceID
  /// Nil: the space itself.
  package var channel: EntityID?

  package init(_ space: SpaceID, channel: EntityID? = nil) {
    self.space = space
    self.channel = channel
  }

  /// `server:7`, or `server:7 9` for a channel.
  package var text: String { channel.map { "\(space.key) \($0.text)" } ?? space.key }

  package init?(text: String) {
    let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = words.first, let space = SpaceID(key: first) else { return nil }
    self.init(space)
    guard words.count == 2 else { return }
    guard let channel = EntityID(String(words[1])) else { return nil }
    self.channel = channel
  }

  /// The id under which the account's invitation waits there.
  package func requestID(of account: AccountID) -> RequestID {
    RequestID(channel == nil ? .invitation : .channelInvitation, of: account, in: space, channel: channel)
  }
}

/// The invitations of an account by place, each with the version of the commit that invited it last.
struct InvitationList {
  private(set) var versions: [InvitationPlace: MessageID] = [:]

  /// A change that comes twice, or after a later one, changes nothing.
  mutating func add(_ place: InvitationPlace, at version: MessageID) {
    versions[place] = max(version, versions[place] ?? .zero)
  }

  var places: [InvitationPlace] {
    versions.sorted { ($1.value, $1.key.text) < ($0.value, $0.key.text) }.map(\.key)
  }
}
