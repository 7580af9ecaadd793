import CLinux
import Glibc
import Synchronization

/// What other threads hand to a loop. One lock, held for an append; one eventfd, written once per batch.
final class Inbox: Sendable {
  enum Item: Sendable {
    case job(UnownedJob)
    case action(@Sendable () -> Void)
  }

  /// Readable while there is something inside.
  let descriptor: Int32
  private let items = Mutex<[Item]>([])

  init() throws(LoopError) {
    descriptor = try systemCall("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) }
  }

  deinit {
    close(descriptor)
  }

  func append(_ item: Item) {
    let isFirst = items.withLock { items in
      items.append(item)
      return items.count == 1
    }
    // Whoever follows before the loop has taken the batch needs no second wake-up.
    if isFirst { eventfd_write(descriptor, 1) }
  }

  /// Swaps the batch out. The eventfd is cleared first: cleared afterwards, an item appended in between
  /// would lose its wake-up.
  func take(into batch: inout [Item]) {
    var wakeups: eventfd_t = 0
    unsafe eventfd_read(descriptor, &wakeups)
    items.withLock { swap(&$0, &batch) }
  }
}
