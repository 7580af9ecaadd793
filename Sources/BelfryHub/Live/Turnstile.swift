internal import BelfryLoop
internal import BelfryStore

/// Lets a bounded number through at a time; the others wait in the order in which they came.
///
/// Who waits is a closure and not a task: a consumer that has yet to begin its catch-up costs a few words here,
/// where a task, suspended deep inside of it, keeps twelve kilobytes. With ten thousand that come back at once
/// that was most of the broker's memory, and the allocator did not give it back.
final class Turnstile {
  /// - Returns: whether the place is taken, and will be left. Who is not interested any more passes it on.
  typealias Entry = () -> Bool

  private var free: Int
  private var coming = Queue<Entry>()
  private var returning = Queue<Entry>()
  private var isReturningNext = true

  init(places: Int) {
    free = places
  }

  func pass<Value>(_ work: () async throws(StoreError) -> Value) async throws(StoreError) -> Value {
    await withCheckedContinuation { continuation in enter { continuation.take() } }
    defer { leave() }
    return try await work()
  }

  /// Calls `entry` when it is its turn, perhaps at once. Who takes the place calls ``leave()`` in the end.
  func enter(_ entry: @escaping Entry) { enter(entry, orWaitIn: \.coming) }

  private func enter(
    _ entry: @escaping Entry, orWaitIn line: ReferenceWritableKeyPath<Turnstile, Queue<Entry>>
  ) {
    // Looked at in here, after whatever led here: between an outer look and this one a place may become free.
    guard free > 0 else { return self[keyPath: line].append(entry) }
    if entry() { free -= 1 }
  }

  func leave() {
    while let entry = next() {
      if entry() { return }
    }
    free += 1
  }

  /// For a wait that needs no place and may be long, by somebody who has one: others get it meanwhile.
  func stepOut(_ wait: () async -> Void) async {
    leave()
    await wait()
    await withCheckedContinuation { continuation in enter({ continuation.take() }, orWaitIn: \.returning) }
  }

  /// By turns: those who return hold more memory than those who come, who would wait for ever if they always
  /// went first.
  private func next() -> Entry? {
    isReturningNext.toggle()
    return isReturningNext
      ? returning.popFirst() ?? coming.popFirst() : coming.popFirst() ?? returning.popFirst()
  }
}

extension CheckedContinuation<Void, Never> {
  fileprivate func take() -> Bool {
    resume()
    return true
  }
}
