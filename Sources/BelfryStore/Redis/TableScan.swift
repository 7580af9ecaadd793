import BelfryBytes
import BelfryModel

/// The place where the listing of a table goes on: HSCAN with pages of an exact size.
///
/// HSCAN answers roughly as many fields as asked for, and a small hash as a whole. A step that answers too
/// many is sorted by field and cut. The cursor of the page records the cut: the next page repeats the step
/// and goes on after that field.
///
/// If the hash was resized in between, the repeated step may end elsewhere. Redis counts cursors with the
/// bits reversed, so it is still known which of two ends is further. A step that ends before the recorded end
/// is a part of the cut step: the cut applies to it and to the steps up to that end, and a part that has to
/// be cut too has a cut within the other. A step that ends beyond it is given uncut, so that some fields come
/// twice and none is left out.
struct TableScan: Hashable {
  struct Cut: Hashable {
    /// The COUNT of the step: with the same COUNT an unchanged hash answers the same step.
    var count: Int
    /// The cursor at the end of the step; zero is the end of the scan.
    var end: UInt64
    /// Fields of the step up to this one were given.
    var field: UTF8Text
  }

  /// Cuts within cuts come from resizing between pages, so there is hardly ever more than one. Dropping the outermost makes
  /// some fields come twice.
  static let cutsMax = 4
  /// The largest COUNT that a cursor may ask for: a step keeps Redis from serving others.
  static let countMax = Limits.pageMembersMaximum

  var cursor: UInt64 = 0
  /// Each within the one before it.
  private(set) var cuts: [Cut] = []

  init() {}

  /// The COUNT of the step to repeat; nil if there is none.
  var count: Int? { cuts.last?.count }

  /// The fields of a step that were not given before.
  /// - Parameter next: the cursor that the step ended with.
  func rest(of fields: [(field: String, text: String)], next: UInt64) -> [(field: String, text: String)] {
    let holding = cuts.filter { !Self.isFurther(next, than: $0.end) }
    return fields.filter { field, _ in holding.allSatisfy { UTF8Text(field) > $0.field } }
  }

  /// The position after a step that was given as a whole; nil if it was the last.
  func ended(next: UInt64) -> TableScan? {
    guard next != 0 else { return nil }
    var scan = self
    scan.cursor = next
    scan.cuts.removeAll { next == $0.end || Self.isFurther(next, than: $0.end) }
    return scan
  }

  /// The position within a step that was given up to a field.
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

  /// Nil if `text` was not made by ``text``.
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
