/// An action that runs once, on the loop's thread, not before its deadline.
package final class LoopTimer {
  package let deadline: ContinuousClock.Instant
  /// Its index in the heap; nil once it has run or was cancelled.
  fileprivate(set) var position: Int?
  private unowned let loop: EventLoop
  private var action: (() -> Void)?

  init(loop: EventLoop, deadline: ContinuousClock.Instant, action: @escaping () -> Void) {
    self.loop = loop
    self.deadline = deadline
    self.action = action
  }

  package func cancel() {
    guard action != nil else { return }
    action = nil
    loop.remove(self)
  }

  func fire() {
    let action = action
    self.action = nil
    action?()
  }
}

/// A binary heap of timers by deadline, then by age. Each timer knows its index, so cancelling takes O(log n) and
/// frees its memory at once: most timers are timeouts, and most timeouts are cancelled.
struct TimerHeap {
  private struct Node {
    let deadline: ContinuousClock.Instant
    let age: UInt64
    let timer: LoopTimer

    func isBefore(_ other: Node) -> Bool {
      deadline == other.deadline ? age < other.age : deadline < other.deadline
    }
  }

  private var nodes: [Node] = []
  private(set) var timersEver: UInt64 = 0

  var count: Int { nodes.count }
  var earliest: ContinuousClock.Instant? { nodes.first?.deadline }

  mutating func insert(_ timer: LoopTimer) {
    timersEver += 1
    nodes.append(Node(deadline: timer.deadline, age: timersEver, timer: timer))
    timer.position = nodes.count - 1
    siftUp(nodes.count - 1)
  }

  mutating func remove(_ timer: LoopTimer) {
    guard let position = timer.position else { return }
    timer.position = nil
    let last = nodes.removeLast()
    guard position < nodes.count else { return }
    place(last, at: position)
    siftUp(position)
    siftDown(position)
  }

  /// Takes the earliest timer, if it is due and was set before `timersEver` exceeded this value. Timers that due
  /// timers set must wait, or one that sets itself again would keep the loop for ever.
  mutating func popDue(at now: ContinuousClock.Instant, setBefore timersThen: UInt64) -> LoopTimer? {
    // Each iteration asks, mostly in vain, so the node is not copied first.
    guard !nodes.isEmpty, nodes[0].deadline <= now, nodes[0].age <= timersThen else { return nil }
    let timer = nodes[0].timer
    remove(timer)
    return timer
  }

  private mutating func place(_ node: Node, at position: Int) {
    nodes[position] = node
    node.timer.position = position
  }

  private mutating func siftUp(_ start: Int) {
    let node = nodes[start]
    var position = start
    while position > 0 {
      let parent = (position - 1) / 2
      guard node.isBefore(nodes[parent]) else { break }
      place(nodes[parent], at: position)
      position = parent
    }
    if position != start { place(node, at: position) }
  }

  private mutating func siftDown(_ start: Int) {
    let node = nodes[start]
    var position = start
    while true {
      var child = 2 * position + 1
      guard child < nodes.count else { break }
      if child + 1 < nodes.count, nodes[child + 1].isBefore(nodes[child]) { child += 1 }
      guard nodes[child].isBefore(node) else { break }
      place(nodes[child], at: position)
      position = child
    }
    if position != start { place(node, at: position) }
  }
}
