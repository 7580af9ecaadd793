package import BelfryModel

/// What happens in spaces, as it happens. The other half of a store: what was committed is also said
/// here, in the order of the commits of each partition.
package protocol LiveFeed: AnyObject {
  /// Returns once messages of the space arrive for certain; what is appended from then on is not missed.
  func subscribe(_ space: SpaceID) async throws(StoreError)
  func unsubscribe(_ space: SpaceID)
  var onMessage: ((SpaceID, LiveMessage) -> Void)? { get set }
  /// False: messages may be missing from now on. True: everything wanted is subscribed again, and what
  /// passed in between must be read from the logs.
  var onConnected: ((Bool) -> Void)? { get set }
  /// Milliseconds since 1970 up to which nothing can have been missed unnoticed.
  var heardUpToMilliseconds: Int64 { get }
}

/// One message of a space's live channel.
package enum LiveMessage: Sendable, Hashable {
  /// An entry was appended; `predecessor` is the log's entry before it (zero: the first). A reader whose
  /// last entry is another one has missed something.
  case appended(LogEntry, predecessor: MessageID)
  /// A notification that is never stored.
  case passing(LogEntry)
  /// An entry's content changed; this is how it is now.
  case amended(LogEntry)
  /// These accounts' standing in the space changed: read it again before deciding what they see.
  case standings([AccountID])
  /// On an account's own space: marked read, by which device.
  case read(ReadEcho)
  /// On an account's own space: its index of spaces changed.
  case index
  /// On an account's own space: what it did on one of its devices.
  case device(DeviceEcho)
}

/// What was marked read: single entries, or everything up to one.
package struct ReadEcho: Sendable, Hashable {
  package var items: [MessageID]
  package var watermark: MessageID?
  package var upTo: MessageID?
  package var device: DeviceID?

  package init(items: [MessageID], watermark: MessageID?, upTo: MessageID?, device: DeviceID?) {
    self.items = items
    self.watermark = watermark
    self.upTo = upTo
    self.device = device
  }
}
