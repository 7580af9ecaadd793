package import BelfryModel

/// The live channels of spaces. Each commit of a store is also published here, in the order of the commits of
/// each partition.
package protocol LiveFeed: AnyObject {
  /// Returns once messages of the space arrive for certain: no entry that is appended from then on is missed.
  func subscribe(_ space: SpaceID) async throws(StoreError)
  func unsubscribe(_ space: SpaceID)
  var onMessage: ((SpaceID, LiveMessage) -> Void)? { get set }
  /// Called if a message of the space cannot be read, perhaps since a broker of another version sent it. The
  /// message has been missed.
  var onUnreadable: ((SpaceID) -> Void)? { get set }
  /// False: messages of these partitions may be missed from now on. True: all spaces of them are subscribed
  /// again, and messages that were published in between must be read from the logs.
  var onHearingChange: ((Bool, [Partition]) -> Void)? { get set }
}

/// One message of a space's live channel.
package enum LiveMessage: Sendable, Hashable {
  /// An entry was appended, a notification or an update. `predecessor` is the log's entry before it; zero if it is the
  /// first. A reader whose last entry is another one has missed something.
  case appended(LogEntry, predecessor: MessageID)
  /// A notification that is never stored.
  case ephemeral(LogEntry)
  /// The memberships of these accounts in the space changed. They must be read again before a consumer
  /// decides what the accounts see.
  case memberships([AccountID])
  /// In a personal space: the account marked entries as read.
  case read(ReadEcho)
  /// In a personal space: the account's index of spaces changed.
  case index
  /// In a personal space: the account acted on one of its devices.
  case device(DeviceEcho)
  /// In a personal space: streams of the account are to end.
  case ended(EndedStreams)
}

/// The effect of a mark, for the account's consumers.
package struct ReadEcho: Sendable, Hashable {
  /// The entries that clients are told are read, and the id up to which all entries are.
  package var items: [MessageID]
  package var upTo: MessageID?
  // The changes of the read state.
  package var marked: [MessageID]
  package var watermarks: [MessageID]
  package var caughtUp: [SpaceID]
  /// The device that acted, which is not told.
  package var device: DeviceID?
  /// The version of the read state that the mark was made from. A read state of a later version has the mark.
  package var version: Int64

  package init(
    items: [MessageID], marked: [MessageID]? = nil, watermarks: [MessageID] = [], caughtUp: [SpaceID] = [],
    upTo: MessageID? = nil, device: DeviceID? = nil, version: Int64 = 0
  ) {
    self.items = items
    self.marked = marked ?? items
    self.watermarks = watermarks
    self.caughtUp = caughtUp
    self.upTo = upTo
    self.device = device
    self.version = version
  }
}

extension ReadState {
  package mutating func apply(_ echo: ReadEcho, _ partitions: Partitions) {
    mark(echo.marked)
    for watermark in echo.watermarks { raise(to: watermark) }
    catchUp(echo.caughtUp, partitions)
  }
}
