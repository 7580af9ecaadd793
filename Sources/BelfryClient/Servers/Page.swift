/// One page of a list, and the place where the next page begins.
///
/// ```swift
/// var members: [Member] = []
/// var page = try await client.members(of: server)
/// members += page.items
/// while let cursor = page.cursor {
///   page = try await client.members(of: server, cursor: cursor)
///   members += page.items
/// }
/// ```
///
/// A page may hold fewer items than were asked for, or none, and still not be the last one. Only the cursor tells the end.
public struct Page<Item: Sendable>: Sendable {
  /// The items of the page.
  public var items: [Item]
  /// The cursor to pass for the next page. Nil if this is the last page.
  public var cursor: String?

  /// Makes a page, for example in tests.
  public init(items: [Item], cursor: String?) {
    self.items = items
    self.cursor = cursor
  }
}
