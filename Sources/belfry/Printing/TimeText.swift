import Foundation

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
