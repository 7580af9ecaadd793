/// Actions that happen at their times. Those of one time happen in the order in which they were added.
struct Agenda {
  private struct Entry {
    let time: Int64
    let action: () -> Void
  }

  /// The latest first, since the earliest is removed again and again.
  private var entries: [Entry] = []

  var earliest: Int64? { entries.last?.time }

  mutating func add(at time: Int64, _ action: @escaping () -> Void) {
    let place = entries.firstIndex { $0.time <= time } ?? entries.endIndex
    entries.insert(Entry(time: time, action: action), at: place)
  }

  /// Removes the earliest action.
  mutating func popFirst() -> (() -> Void)? { entries.popLast()?.action }
}
