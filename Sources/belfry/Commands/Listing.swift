import BelfryClient

/// The part of a paged list that is wanted.
struct Listing<Item: Sendable & Encodable>: Sendable {
  var limit: Int
  /// The most the broker gives at a time.
  var pageLimit: Int
  var cursor: String?
}

enum ListingLimit {
  /// More than a screen, less than a flood.
  static let standard = 100
}

extension CommandOption {
  static let listingLimit = value("limit", "N", "at most N; \(ListingLimit.standard) by default")
}

extension Arguments {
  var listingLimit: Int {
    get throws(UsageError) {
      try integer("limit", in: 1...10_000_000) ?? ListingLimit.standard
    }
  }
}

extension Invocation {
  /// Prints a list page by page as JSON, or as one table once it is complete: columns are as wide as their
  /// widest cell.
  ///
  /// - Parameters:
  ///   - prepare: called once with all that the table is made of.
  ///   - rest: how to see what comes behind the limit, by the cursor behind the last item; nil: by a higher limit only.
  func printListing<Item>(
    _ listing: Listing<Item>, header: [String], narrowing: TextTable.Narrowing = .cutting,
    empty: String,
    page: (_ limit: Int, _ cursor: String?) async throws -> Page<Item>,
    prepare: ([Item]) async throws -> Void = { _ in }, rest: ((String) -> String)? = nil,
    cells: (Item) -> [String]
  ) async throws {
    var shown: [Item] = []
    var left = listing.limit
    var cursor = listing.cursor
    repeat {
      let page = try await page(min(left, listing.pageLimit), cursor)
      // A broker may give more items than it was asked for, so the rest is cut off.
      for item in page.items.prefix(left) {
        if printsJSON { console.print([try JSONLine.text(item)]) } else { shown.append(item) }
      }
      left -= min(left, page.items.count)
      // A page may be empty with more pages after it. A page that leads back to itself would be asked for
      // without end.
      guard page.cursor != cursor else { break }
      cursor = page.cursor
    } while cursor != nil && left > 0
    let remark = left == 0 ? cursor.map { rest?($0) ?? "--limit N shows up to N" } : nil
    guard !printsJSON else {
      if rest != nil, let remark { console.complain("belfry: there may be more; \(remark)") }
      return
    }
    try await prepare(shown)
    var table = TextTable(header, narrowing: narrowing)
    for item in shown { table.add(cells(item)) }
    console.print(table, empty: empty)
    if let remark { console.complain("belfry: there may be more; \(remark)") }
  }
}
