import BelfryBytes
import BelfryModel

/// Where the listing of a table goes on: HSCAN made exact.
///
/// HSCAN gives roughly as many fields as asked for, a small hash even as a whole, and a page must not be
/// longer than its limit. So a step that gives too much is put in the order of its fields and cut, and
/// the place remembers the cut: the step is done again for the next page, and goes on after that field.
///
/// When the hash was resized in between, the step done again may end elsewhere. Redis counts its cursors
/// with the bits reversed, so which of two ends is further is known all the same. A step that ends before
/// the cut one did is part of it: the cut holds for it and for those that follow, up to the old end, and
/// if such a part must be cut too, it has a cut of its own within the other. A step that ends beyond is
/// given uncut: some fields come twice rather than one never.
struct TableScan: Hashable {
  struct Cut: Hashable {
    /// The COUNT of the step: with the same one, an unchanged hash gives the same step.
    var count: Int
    /// The cursor at the end of the step; zero is the end of all.
    var end: UInt64
    /// Of the fields up to `end`, all up to this one have been given.
    var field: UTF8Text
  }

  /// Cuts within cuts come from resizing between pages, so there is hardly ever more than one. Forgetting
  /// the outermost makes some fields come twice.
  static let cutsMax = 4
  /// A page asks for as many as it has room for. Who holds a cursor must not have Redis look for more in one step, in
  /// which it serves nobody else.
  static let countMax = Limits.pageMembersMaximum

  var cursor: UInt64 = 0
  /// Each within the one before it.
  private(set) var cuts: [Cut] = []

  init() {}

  /// The COUNT with which to go on; nil if any will do.
  var count: Int? { cuts.last?.count }

  /// What the step gives that was not given before, of the fields from the cursor to `next`.
  func rest(of fields: [(field: String, text: String)], next: UInt64) -> [(field: String, text: String)] {
    let holding = cuts.filter { !Self.isFurther(next, than: $0.end) }
    return fields.filter { field, _ in holding.allSatisfy { UTF8Text(field) > $0.field } }
  }

  /// The place after a step that was given as a whole; nil if it was the last.
  func ended(next: UInt64) -> TableScan? {
    guard next != 0 else { return nil }
    var scan = self
    scan.cursor = next
    scan.cuts.removeAll { next == $0.end || Self.isFurther(next, than: $0.end) }
    return scan
  }

  /// The place within a step that was given up to a field.
  func isCut(after field: String, count: Int, next: UInt64) -> TableScan {
    var scan = self
    scan.cuts.removeAll { next == $0.end || Self.isFurther(next, than: $0.end) }
    scan.cuts.append(Cut(count: count, end: next, field: UTF8Text(field)))
    if scan.cuts.count > Self.cutsMax { scan.cuts.removeFirst() }
    return scan
  }

  private static func isFurther(_ cursor: UInt64, than other: UInt64) -> Bool {
    guard other != 0 else { return false }
    return cursor == 0 || cursor.bitReversed > other.bitReversed
  }
}

// MARK: - The text a client hands back

// `<cursor>[~<count>.<end>.<field>]*`
extension TableScan {
  var text: String {
    cuts.reduce(String(cursor)) { $0 + "~\($1.count).\($1.end).\($1.field)" }
  }

  /// Nil when `text` was not made by ``text``.
  init?(text: String) {
    let parts = text.parts(between: "~")
    guard let cursor = UInt64(canonical: parts[0]), parts.count <= 1 + Self.cutsMax else { return nil }
    self.cursor = cursor
    for part in parts.dropFirst() {
      let words = part.parts(between: ".", most: 3)
      guard words.count == 3, let count = UInt64(canonical: words[0]), let end = UInt64(canonical: words[1]),
        (1...UInt64(Self.countMax)).contains(count)
      else { return nil }
      cuts.append(Cut(count: Int(count), end: end, field: UTF8Text(words[2])))
    }
  }
}

extension UInt64 {
  fileprivate init?(canonical text: Substring) {
    guard let number = UInt64(text), UTF8Text(String(number)) == UTF8Text(text) else { return nil }
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
