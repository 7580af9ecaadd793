import BelfrySystem
import Synchronization

/// What other threads hand to a loop. One lock, held for an append; one descriptor, set once per batch.
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
    // Whoever follows before the loop has taken the batch needs no second wake-up.
    if isFirst { filled.set() }
  }

  /// Swaps the batch out. The descriptor is cleared first: cleared afterwards, an item appended in between
  /// would lose its wake-up.
  func take(into batch: inout [Item]) {
    filled.clear()
    items.withLock { swap(&$0, &batch) }
  }
}
