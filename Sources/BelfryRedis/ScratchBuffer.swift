/// Memory in which something is put together before its size is known, and which is kept for the next time.
///
/// The memory is plain memory and not an array. At each append an array asks whether it has one owner only, and for the
/// many small elements of a reply that question cost more than all else.
///
/// SAFETY: the memory belongs to the one owner of this value, and all places below `count` are initialized.
@safe struct ScratchBuffer<Element>: ~Copyable {
  /// Memory up to this size is kept.
  private static var keptBytesMax: Int { 256 << 10 }
  private static var firstCapacity: Int { 1_024 }

  private var memory: UnsafeMutablePointer<Element>
  private var capacity: Int
  private(set) var count = 0

  init() {
    capacity = Self.firstCapacity
    unsafe memory = .allocate(capacity: capacity)
  }

  deinit {
    unsafe memory.deinitialize(count: count)
    unsafe memory.deallocate()
  }

  var first: Element? { count > 0 ? unsafe memory.pointee : nil }

  mutating func append(_ element: Element) {
    if count == capacity { grow(by: 1) }
    unsafe (memory + count).initialize(to: element)
    count += 1
  }

  mutating func append(copying elements: UnsafeBufferPointer<Element>) {
    guard let start = elements.baseAddress else { return }
    if elements.count > capacity - count { grow(by: elements.count) }
    unsafe (memory + count).initialize(from: start, count: elements.count)
    count += elements.count
  }

  mutating func replace(at index: Int, with element: Element) {
    precondition(index >= 0 && index < count)
    unsafe memory[index] = element
  }

  /// A copy that takes no more memory than it needs.
  func array() -> [Element] { unsafe Array(UnsafeBufferPointer(start: memory, count: count)) }

  mutating func clear() {
    unsafe memory.deinitialize(count: count)
    count = 0
    guard capacity * MemoryLayout<Element>.stride > Self.keptBytesMax else { return }
    unsafe memory.deallocate()
    capacity = Self.firstCapacity
    unsafe memory = .allocate(capacity: capacity)
  }

  private mutating func grow(by missing: Int) {
    let larger = max(2 * capacity, count + missing)
    let new = UnsafeMutablePointer<Element>.allocate(capacity: larger)
    unsafe new.moveInitialize(from: memory, count: count)
    unsafe memory.deallocate()
    unsafe memory = new
    capacity = larger
  }
}
