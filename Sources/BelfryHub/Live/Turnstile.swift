internal import BelfryStore

/// Lets a bounded number through at a time; the others wait in the order in which they came.
final class Turnstile {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var head = 0

  init(places: Int) {
    free = places
  }

  func pass<Value>(_ work: () async throws(StoreError) -> Value) async throws(StoreError) -> Value {
    await enter()
    defer { leave() }
    return try await work()
  }

  private func enter() async {
    await withCheckedContinuation { continuation in
      // Looked at in here: between an outer look and this closure a place may have become free.
      guard free == 0 else {
        free -= 1
        return continuation.resume()
      }
      waiting.append(continuation)
    }
  }

  private func leave() {
    guard head < waiting.count else {
      free += 1
      return
    }
    let next = waiting[head]
    head += 1
    if head == waiting.count {
      waiting.removeAll(keepingCapacity: true)
      head = 0
    }
    next.resume()
  }
}
