/// A ring of jobs in arrival order: it grows when full and never shrinks, so that a loop in its steady
/// state allocates nothing to run a job.
struct JobQueue: ~Copyable {
  private var ring: [UnownedJob?]
  private var head = 0
  private(set) var count = 0

  init() {
    ring = Array(repeating: nil, count: 256)
  }

  var isEmpty: Bool { count == 0 }

  mutating func append(_ job: UnownedJob) {
    if count == ring.count { grow() }
    // The ring's size is a power of two, so that a mask wraps the index.
    ring[(head &+ count) & (ring.count &- 1)] = job
    count &+= 1
  }

  mutating func popFirst() -> UnownedJob? {
    guard count > 0 else { return nil }
    let job = ring[head]
    head = (head &+ 1) & (ring.count &- 1)
    count &-= 1
    return job
  }

  private mutating func grow() {
    var larger: [UnownedJob?] = []
    larger.reserveCapacity(ring.count * 2)
    larger.append(contentsOf: ring[head...])
    larger.append(contentsOf: ring[..<head])
    larger.append(contentsOf: repeatElement(nil, count: ring.count))
    ring = larger
    head = 0
  }
}
