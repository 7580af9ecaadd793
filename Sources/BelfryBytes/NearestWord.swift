/// Finds what somebody who mistyped a word probably meant.
package enum NearestWord {
  /// Longer words are not compared: that takes time, and they are hardly mistyped ones.
  private static let lengthMaxBytes = 64
  /// A word this short is the beginning of too many others.
  private static let beginningLengthMin = 3

  /// The nearest candidate, without regard to case; the first of several. Nil when none is near: a far-fetched
  /// suggestion is worse than none.
  package static func to(_ word: String, among candidates: [String]) -> String? {
    guard word.utf8.count <= lengthMaxBytes else { return nil }
    let typed = word.lowercased()
    let scored = candidates.map { (word: $0, distance: distance(Array(typed), Array($0.lowercased()))) }
    if let best = scored.min(by: { $0.distance < $1.distance }), best.distance <= max(1, best.word.count / 3)
    {
      return best.word
    }
    // Perhaps only its end was left out.
    let longer = candidates.filter { $0.lowercased().hasPrefix(typed) }
    return typed.count >= beginningLengthMin && longer.count == 1 ? longer[0] : nil
  }

  /// Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other
  /// (optimal string alignment).
  package static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for i in left.indices {
      var row = [i + 1]
      for j in right.indices {
        let substituted = last[j] + (left[i] == right[j] ? 0 : 1)
        var best = min(substituted, last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
          best = min(best, beforeLast[j - 1] + 1)
        }
        row.append(best)
      }
      beforeLast = last
      last = row
    }
    return last[right.count]
  }
}
