import Foundation

/// Lengths of time as people read them: `7 d`, `1 h 30 min`.
enum DurationText {
  static func of(milliseconds: Int) -> String {
    let units = [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1)]
    var left = milliseconds
    var parts: [String] = []
    for (name, length) in units where left >= length {
      parts.append("\(left / length) \(name)")
      left %= length
    }
    return parts.isEmpty ? "0 ms" : parts.joined(separator: " ")
  }
}

/// Times as people read them: `2026-01-09 18:02:11`, in their own zone.
enum TimeText {
  static func of(unixMilliseconds: Int64, in timeZone: TimeZone) -> String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    let date = Date(timeIntervalSince1970: Double(unixMilliseconds) / 1_000)
    let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
    return padded(parts.year, 4) + "-" + padded(parts.month, 2) + "-" + padded(parts.day, 2) + " "
      + padded(parts.hour, 2) + ":" + padded(parts.minute, 2) + ":" + padded(parts.second, 2)
  }

  /// What a time that somebody gives may be.
  static let inputRule =
    "a time as 2026-11-22T10:00:00Z, 90m, 24h or 7d for so long ago, or milliseconds since 1970"

  /// - Returns: nil where the text is no time.
  static func unixMilliseconds(of text: String, now: Date) -> Int64? {
    if let milliseconds = Int64(text) { return milliseconds >= 0 ? milliseconds : nil }
    if let time = try? Date(text, strategy: .iso8601) { return Int64(time.timeIntervalSince1970 * 1_000) }
    let seconds: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    guard let unit = text.last.flatMap({ seconds[$0] }), let count = Int64(text.dropLast()),
      (0...1_000_000).contains(count)
    else { return nil }
    return max(0, Int64(now.timeIntervalSince1970 * 1_000) - count * unit * 1_000)
  }

  private static func padded(_ number: Int?, _ digits: Int) -> String {
    let text = String(number ?? 0)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
