/// Where the listing of a table goes on: HSCAN made exact.
///
/// HSCAN gives roughly as many fields as asked for, a small hash even as a whole, and a page must not be
/// longer than its limit. So a step that gives too much is put in the order of its fields and cut, and
/// the cursor names the cut: the step is done again for the next page, and goes on after that field.
///
/// When the hash was resized in between, the step done again may end elsewhere. Redis counts its cursors
/// with the bits reversed, so which of two ends is further is known all the same: a step that ends beyond
/// the first one's end is not cut, and some fields come twice rather than one never.
struct TableScan: Hashable {
  struct Cut: Hashable {
    /// The COUNT of the step, and the cursor at its end.
    var count: Int
    var end: UInt64
    /// The last field that was given of it.
    var field: String
  }

  var cursor: UInt64 = 0
  var cut: Cut?

  init() {}

  /// What the step gives that was not given before, of fields `cursor ..< next`.
  func rest(of fields: [(field: String, text: String)], next: UInt64) -> [(field: String, text: String)] {
    guard let cut, !Self.isFurther(next, than: cut.end) else { return fields }
    return fields.filter { $0.field > cut.field }
  }

  /// The step was given to its end; nil if it was the last. A cut holds on until the end it remembers.
  func ended(next: UInt64) -> TableScan? {
    guard next != 0 else { return nil }
    var scan = self
    scan.cursor = next
    if let cut, next == cut.end || Self.isFurther(next, than: cut.end) { scan.cut = nil }
    return scan
  }

  func isCut(after field: String, count: Int, next: UInt64) -> TableScan {
    var scan = self
    scan.cut = Cut(count: cut?.count ?? count, end: cut?.end ?? next, field: field)
    return scan
  }

  /// Zero is the end of all.
  private static func isFurther(_ cursor: UInt64, than other: UInt64) -> Bool {
    guard other != 0 else { return false }
    return cursor == 0 || cursor.bitReversed > other.bitReversed
  }
}

// MARK: - The text a client hands back

// `<cursor>`, or `<cursor>.<count>.<end>.<field>` within a step.
extension TableScan {
  var text: String {
    guard let cut else { return String(cursor) }
    return "\(cursor).\(cut.count).\(cut.end).\(cut.field)"
  }

  /// Nil when `text` was not made by ``text``.
  init?(text: String) {
    let words = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
    guard let cursor = words.first.flatMap({ UInt64(canonical: $0) }) else { return nil }
    self.cursor = cursor
    guard words.count > 1 else { return }
    guard words.count == 4, let count = UInt64(canonical: words[1]), (1...UInt64(Int32.max)).contains(count),
      let end = UInt64(canonical: words[2])
    else { return nil }
    cut = Cut(count: Int(count), end: end, field: String(words[3]))
  }
}

extension UInt64 {
  fileprivate init?(canonical text: Substring) {
    guard let number = UInt64(text), String(number) == text else { return nil }
    self = number
  }

  fileprivate var bitReversed: UInt64 {
    var value = self
    value = (value >> 1) & 0x5555_5555_5555_5555 | (value & 0x5555_5555_5555_5555) << 1
    value = (value >> 2) & 0x3333_3333_3333_3333 | (value & 0x3333_3333_3333_3333) << 2
    value = (value >> 4) & 0x0f0f_0f0f_0f0f_0f0f | (value & 0x0f0f_0f0f_0f0f_0f0f) << 4
    return value.byteSwapped
  }
}
