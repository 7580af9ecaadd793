import BelfrySystem
import Synchronization

/// The items that other threads hand to a loop: a list behind a lock, and a descriptor that is set once per
/// batch.
final class Inbox: Sendable {
  enum Item: Sendable {
    case job(UnownedJob)
    case action(@Sendable () -> Void)
  }

  /// Set while there is something inside.
  private let filled: EventDescriptor
  private let items = Mutex<[Item]>([])

  init() throws(SystemError) { filled = try EventDescriptor() }

  var descriptor: Int32 { filled.descriptor }

  func append(_ item: Item) {
    let isFirst = items.withLock { items in
      items.append(item)
      return items.count == 1
    }
    // Later items of the same batch need no second wake-up.
    if isFirst { filled.set() }
  }

  /// Swaps the batch out. The descriptor is cleared first, or an item appended in between would lose its wake-up.
  func take(into batch: inout [Item]) {
    filled.clear()
    items.withLock { swap(&$0, &batch) }
  }
}
