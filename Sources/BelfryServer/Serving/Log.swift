import BelfryBytes
import BelfryLoop
import BelfryModel
import BelfrySystem
import Glibc

/// The operator's log: one line on the standard error stream for each thing worth knowing, and none for a
/// request.
///
///     2026-11-21T04:10:11.123Z belfry 0.1.0 serves on 127.0.0.1:8080 loops=2
///
/// A line leaves in one write, so lines of several threads do not mix. No secret is ever given to it, and what a
/// URL holds of one is left out.
package enum Log {
  package static func line(_ event: String, _ facts: KeyValuePairs<String, String> = [:]) {
    let text = render(event, facts, at: WallClock.nowMilliseconds()).withoutCredentials
    // Where nobody reads the log there is nobody to tell that it cannot be written.
    _ = unsafe text.utf8CString.withUnsafeBufferPointer { unsafe write(2, $0.baseAddress, $0.count - 1) }
  }

  static func render(
    _ event: String, _ facts: KeyValuePairs<String, String>, at milliseconds: Int64
  ) -> String {
    var line = "\(timestamp(milliseconds)) \(event)"
    for (name, value) in facts { line += " \(name)=\(quoted(value))" }
    return line + "\n"
  }

  /// Bare where that is clear. A line break inside a value would begin a line that nobody wrote.
  private static func quoted(_ value: String) -> String {
    let isPlain = !value.isEmpty && value.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 }
    if isPlain { return value }
    return String(decoding: JSONText.bytes(of: .string(value)), as: UTF8.self)
  }

  /// ISO 8601, UTC.
  private static func timestamp(_ milliseconds: Int64) -> String {
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
