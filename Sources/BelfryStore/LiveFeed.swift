package import BelfryModel

/// What happens in spaces, as it happens. The other half of a store: what was committed is also said
/// here, in the order of the commits of each partition.
package protocol LiveFeed: AnyObject {
  /// Returns once messages of the space arrive for certain; what is appended from then on is not missed.
  func subscribe(_ space: SpaceID) async throws(StoreError)
  func unsubscribe(_ space: SpaceID)
  var onMessage: ((SpaceID, LiveMessage) -> Void)? { get set }
  /// Something was said in the space that cannot be read, by a broker of another version perhaps: whatever it was,
  /// it has been missed.
  var onUnreadable: ((SpaceID) -> Void)? { get set }
  /// False: messages may be missing from now on. True: everything wanted is subscribed again, and what
  /// passed in between must be read from the logs.
  var onConnected: ((Bool) -> Void)? { get set }
}

/// One message of a space's live channel.
package enum LiveMessage: Sendable, Hashable {
  /// An entry was appended, a notification or what one has become; `predecessor` is the log's entry before it
  /// (zero: the first). A reader whose last entry is another one has missed something.
  case appended(LogEntry, predecessor: MessageID)
  /// A notification that is never stored.
  case ephemeral(LogEntry)
  /// These accounts' membership in the space changed: read it again before deciding what they see.
  case memberships([AccountID])
  /// On an account's own space: marked read, by which device.
  case read(ReadEcho)
  /// On an account's own space: its index of spaces changed.
  case index
  /// On an account's own space: what it did on one of its devices.
  case device(DeviceEcho)
}

/// What was marked read.
package struct ReadEcho: Sendable, Hashable {
  /// To be told to clients, with `upTo`: everything up to it.
  package var items: [MessageID]
  package var upTo: MessageID?
  // What it does to the read state.
  package var marked: [MessageID]
  package var watermarks: [MessageID]
  package var caughtUp: [SpaceID]
  /// The device that acted; it is not told.
  package var device: DeviceID?

  package init(
    items: [MessageID], marked: [MessageID]? = nil, watermarks: [MessageID] = [], caughtUp: [SpaceID] = [],
    upTo: MessageID? = nil, device: DeviceID? = nil
  ) {
    self.items = items
    self.marked = marked ?? items
    self.watermarks = watermarks
    self.caughtUp = caughtUp
    self.upTo = upTo
    self.device = device
  }
}

extension ReadState {
  package mutating func apply(_ echo: ReadEcho, _ partitions: Partitions) {
    mark(echo.marked)
    for watermark in echo.watermarks { raise(to: watermark) }
    catchUp(echo.caughtUp, partitions)
  }
}
