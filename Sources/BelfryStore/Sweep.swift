import BelfryModel

// What both stores must know of the records they sweep.

/// Of a space's settings, whatever its kind: when it began and when it was removed, milliseconds since 1970.
struct SpaceDates: Decodable {
  var createdAt: Int64
  var removedAt: Int64?
}

extension SpaceKind {
  /// Whether its spaces have settings, members, and an end.
  var isRemovable: Bool {
    switch self {
    case .server, .group, .room: true
    case .account, .letter: false
    }
  }

  /// The tables that lose records as time goes by.
  var sweptTables: [RecordTable] {
    isRemovable ? [.former, .amendments] + RecordTable.ofSpace.filter(\.expires) : [.amendments]
  }
}
