package import BelfryModel

/// One page of a table.
package struct RecordPage: Sendable, Hashable {
  package var records: [(field: String, text: String)]
  /// Nil at the end.
  package var next: PageCursor?

  package init(records: [(field: String, text: String)], next: PageCursor?) {
    self.records = records
    self.next = next
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.next == right.next && left.records.elementsEqual(right.records, by: ==)
  }
  package func hash(into hasher: inout Hasher) {
    hasher.combine(next)
    for record in records { hasher.combine(record.field) }
  }
}

/// One page of a directory.
package struct DirectoryPage: Sendable, Hashable {
  package var spaces: [SpaceID]
  /// Nil at the end.
  package var next: PageCursor?

  package init(spaces: [SpaceID], next: PageCursor?) {
    self.spaces = spaces
    self.next = next
  }
}
