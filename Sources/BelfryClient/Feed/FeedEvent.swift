/// One event of a feed. Events come in the order in which they happened.
///
/// ```swift
/// for try await event in client.notifications(after: savedCursor) {
///   switch event {
///   case .notification(let notification, let cursor):
///     show(notification)
///     save(cursor)
///   case .read(.ids(let ids)): hide(ids)
///   case .read(.upTo(let id)): hideAll(upTo: id)
///   case .retracted(let id, let cursor):
///     hide([id])
///     save(cursor)
///   default: break
///   }
/// }
/// ```
///
/// Save a cursor after its event has had its effect. If the program ends between the two, the event comes once more; with
/// the opposite order it would be lost.
public enum FeedEvent: Sendable, Hashable {
  /// A notification that is unread so far. `cursor` is the place right behind it, to pass to
  /// ``BelfryClient/notifications(after:withCounts:over:)``. It is opaque text without spaces. It is empty if
  /// nothing that is stored has come yet. An empty cursor is valid, too: the feed then begins with everything unread.
  case notification(Notification, cursor: String)
  /// The account has read these on another device, or on this device by another way. Hide them.
  case read(ReadMark)
  /// A notification that came before now has another body, ext or status. Replace it. `cursor` is the place behind the
  /// event.
  case updated(Notification, cursor: String)
  /// A notification that may have come before was recalled. Hide it. `cursor` is the place behind the event.
  case retracted(MessageID, cursor: String)
  /// The account has changed what it wants to hear. Hide everything that came before: the part that is still wanted comes
  /// again behind this event.
  case preferences([AccountPreference])
  /// Notifications between the two ids may be missing: retention dropped them, or Redis lost them, before this feed could
  /// receive them.
  case gap(from: MessageID, to: MessageID)
  /// The broker ended the connection on purpose.
  ///
  /// If `retry` is true, the feed reconnects by itself. If it is false, this is the last event, with two exceptions: after
  /// the reasons `tokenExpired` and `tokenRevoked` the feed asks for a token again and reconnects with it. If it is still
  /// the old token, the feed ends with the broker's refusal.
  ///
  /// The other reasons are `shutdown` (the broker shuts down), `replaced` and `ended`. After `replaced`, another stream of
  /// the account took the place of this one, and `byDevice` is its device if it named one. A feed that reconnected would
  /// replace that stream in turn. After `ended`, the account or a trusted caller ended the stream.
  case kicked(reason: String, retry: Bool, byDevice: String? = nil)
  /// How much is unread now. Comes only if the feed was asked for it (`withCounts: true`).
  case counts(UnreadCounts)
  /// Another device of the account did something, such as joining a channel.
  case device(JSONValue)

  /// The feed is connected, for the first time or again.
  case connected
  /// The connection broke or could not be made. The feed tries again after the pause, and no stored notification is lost.
  case disconnected(because: BelfryError, pause: Duration)
  /// An event that this version of the client does not know or cannot read, as it came.
  case other(event: String, data: String)
}

/// The notifications that were read.
///
/// ```swift
/// func hide(_ mark: ReadMark) {
///   switch mark {
///   case .ids(let ids): print("read: \(ids)")
///   case .upTo(let id): print("read: everything up to \(id)")
///   }
/// }
/// ```
public enum ReadMark: Sendable, Hashable {
  /// These were read.
  case ids([MessageID])
  /// Everything up to and including this id was read.
  case upTo(MessageID)
}
