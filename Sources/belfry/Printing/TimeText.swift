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

  private static func padded(_ number: Int?, _ digits: Int) -> String {
    let text = String(number ?? 0)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
