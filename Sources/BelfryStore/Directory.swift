import BelfryBytes
import BelfryModel

/// A space as a directory lists it: `<created at, in 13 digits>:<space>`, so that the texts are in the order of age.
struct DirectoryPlace: Hashable {
  let text: String
  let space: SpaceID

  private static let digits = 13
  /// A millisecond in the year 2286, the last one that has 13 digits.
  private static let lastMilliseconds: Int64 = 9_999_999_999_999

  init(_ space: SpaceID, createdAtMilliseconds: Int64) {
    let time = String(min(max(0, createdAtMilliseconds), Self.lastMilliseconds))
    text = String(repeating: "0", count: Self.digits - time.count) + time + ":" + space.key
    self.space = space
  }

  /// Nil if the text is not such a place.
  init?(text: String) {
    let parts = text.parts(between: ":", most: 2)
    guard parts.count == 2, parts[0].utf8.count == Self.digits, let milliseconds = Int64(parts[0]),
      let space = SpaceID(key: parts[1])
    else { return nil }
    self.init(space, createdAtMilliseconds: milliseconds)
    guard UTF8Text(self.text) == UTF8Text(text) else { return nil }
  }
}

extension DirectoryPlace {
  /// The last place of the page after which the cursor stands.
  init(_ cursor: PageCursor, of directory: ListingChange.Directory) throws(StoreError) {
    guard let place = DirectoryPlace(text: cursor.text) else {
      throw StoreError(.badCursor, "it is not a cursor of this store", at: "page \(directory)")
    }
    self = place
  }
}

extension DirectoryPage {
  /// - Parameter places: in order; those beyond the limit are for the next page.
  init(_ places: [DirectoryPlace], limit: Int) {
    let page = places.prefix(max(1, limit))
    self.init(
      spaces: page.map(\.space),
      next: page.count < places.count ? page.last.map { PageCursor(text: $0.text) } : nil)
  }
}

extension ListingChange.Directory {
  /// The directory that lists spaces of the kind; nil if none does.
  init?(of kind: SpaceKind) {
    switch kind {
    case .group: self = .groups
    case .room: self = .rooms
    case .server, .account, .direct: return nil
    }
  }
}

extension ListingChange.Directory {
  /// The text that is hashed to find the directory's partition, since a directory belongs to no space.
  var name: String { "directory:\(rawValue)" }
}
