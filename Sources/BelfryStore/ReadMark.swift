package import BelfryModel

/// Entries to mark as read.
package struct ReadMark: Sendable, Hashable {
  /// Entries to add to the read set, each of them visible and unread when the mark was made.
  package var items: [MessageID]
  /// Such entries that the new watermarks cover: they are counted, and need not be in the set.
  package var covered: [MessageID]
  /// The watermarks to raise to; each id names its partition. Every entry up to there that the account can see is among
  /// `items`, in `covered`, or was read before.
  package var watermarks: [MessageID]
  /// Lagging spaces that are read up to the watermark, and need no position of their own any more.
  package var caughtUp: [SpaceID]
  /// The other devices are told that everything up to this id is read, in addition to the entries in
  /// ``echoed``.
  package var upTo: MessageID?
  /// The ids that the other devices are told.
  package var echoed: [MessageID]
  /// Spaces of direct messages that can leave the index, with the id through which each is read. A later message that was
  /// sent to the space stays.
  package var directMessages: [SpaceID: MessageID]
  /// The device that acted, which is not told.
  package var device: DeviceID?
  /// The version of the read state that the mark was made from. If it has changed since, nothing is marked.
  package var version: Int64

  /// - Parameter echoed: nil: the items.
  package init(
    items: [MessageID], covered: [MessageID] = [], watermarks: [MessageID] = [], caughtUp: [SpaceID] = [],
    upTo: MessageID? = nil, echoed: [MessageID]? = nil, directMessages: [SpaceID: MessageID] = [:],
    device: DeviceID? = nil, version: Int64 = 0
  ) {
    self.items = items
    self.covered = covered
    self.watermarks = watermarks
    self.caughtUp = caughtUp
    self.upTo = upTo
    self.echoed = echoed ?? items
    self.directMessages = directMessages
    self.device = device
    self.version = version
  }

  package var echo: ReadEcho {
    ReadEcho(
      items: echoed, marked: items, watermarks: watermarks, caughtUp: caughtUp, upTo: upTo, device: device,
      version: version)
  }
}

/// The outcome of a mark.
package enum MarkOutcome: Sendable, Hashable {
  /// The number of the mark's entries that were unread until now, and the version of the read state since.
  case marked(Int, version: Int64)
  /// The read state has changed since the mark was made: read it and make the mark again.
  case conflict
}
