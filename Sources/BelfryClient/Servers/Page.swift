/// Some of a list, and where the rest begins. It may hold fewer than asked for, or none, with more to come:
/// only the cursor tells the end.
public struct Page<Item: Sendable>: Sendable {
  public var items: [Item]
  /// For the next page; nil at the end.
  public var cursor: String?

  public init(items: [Item], cursor: String?) {
    self.items = items
    self.cursor = cursor
  }
}
