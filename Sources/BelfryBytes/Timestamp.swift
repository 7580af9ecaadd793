import Glibc

/// A moment as text: ISO 8601, UTC, with milliseconds.
package enum Timestamp {
  /// - Parameter milliseconds: since 1970.
  package static func text(milliseconds: Int64) -> String {
    var seconds = time_t(milliseconds / 1_000)
    var parts = unsafe tm()
    unsafe gmtime_r(&seconds, &parts)
    func digits(_ number: some BinaryInteger, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let date =
      unsafe "\(parts.tm_year + 1_900)-\(digits(parts.tm_mon + 1, 2))-\(digits(parts.tm_mday, 2))"
    let time =
      unsafe "\(digits(parts.tm_hour, 2)):\(digits(parts.tm_min, 2)):\(digits(parts.tm_sec, 2))"
    return "\(date)T\(time).\(digits(milliseconds % 1_000, 3))Z"
  }
}
