/// What a feed tells, in the order in which it happened.
public enum FeedEvent: Sendable, Hashable {
  /// A notification, unread so far. `cursor` is the place right behind it, for
  /// ``BelfryClient/notifications(after:)``; opaque text without spaces. Empty where nothing that is kept has come yet, which
  /// is good as a cursor, too: the feed then begins anew.
  case notification(Notification, cursor: String)
  /// Another device of the account, or this one by another way, has read these.
  case read(ReadMark)
  /// A notification received before has another body, ext or status now. `cursor` as above.
  case updated(Notification, cursor: String)
  /// A notification that may have been received before was recalled: it is not to be shown any more. `cursor` as above.
  case retracted(MessageID, cursor: String)
  /// The account wants to hear this now. Whatever was received before is to be dropped: what is left of it follows again.
  case preferences([AccountPreference])
  /// What lay between the two ids was dropped by retention before this feed could receive it.
  case gap(from: MessageID, to: MessageID)
  /// The broker ended the connection on purpose. With `retry` the feed comes back by itself; without, this
  /// is its last event, unless the reason is `tokenExpired` or `tokenRevoked`: then the feed asks for a token again and comes
  /// back with it, or ends with the broker's refusal when it is still the old one.
  ///
  /// `replaced`: another stream of the account took its place, of this device if it named one. A feed that came back would
  /// replace that one in turn. `ended`: somebody ended it for the account.
  case kicked(reason: String, retry: Bool, byDevice: String? = nil)
  /// How much is unread now; only if it was asked for.
  case counts(UnreadCounts)
  /// Another device of the account did something, such as joining a channel.
  case device(JSONValue)

  /// The feed is connected, at first or again.
  case connected
  /// The connection broke or was not made. The feed tries again after the pause; nothing is lost.
  case disconnected(because: BelfryError, pause: Duration)
  /// An event that this version of the client does not know or cannot read, as it came.
  case other(event: String, data: String)
}

/// What was read.
public enum ReadMark: Sendable, Hashable {
  case ids([MessageID])
  /// Everything up to this id.
  case upTo(MessageID)
}
