/// Finds what somebody who mistyped a word probably meant.
enum NearestWord {
  /// Nil when nothing is near: a far-fetched suggestion is worse than none.
  static func to(_ word: String, among candidates: [String]) -> String? {
    let scored = candidates.map { (word: $0, distance: distance(Array(word), Array($0))) }
    guard let best = scored.min(by: { $0.distance < $1.distance }),
      best.distance <= max(1, best.word.count / 3)
    else { return nil }
    return best.word
  }

  /// Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other
  /// (optimal string alignment).
  static func distance(_ left: [Character], _ right: [Character]) -> Int {
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
