import BelfryBytes
import BelfryLoop
import BelfryModel
import BelfrySystem
import Glibc

/// The operator's log: one line on the standard error stream for each notable event, and none for a request.
///
///     2026-11-21T04:10:11.123Z belfry 0.1.0 listens on 127.0.0.1:8080 loops=2
///
/// Each line is one write, so lines of several threads do not mix. No secret is ever passed to the log, and
/// secrets in URLs are left out. For a URL that the broker sends requests to, only the origin is logged,
/// because many receivers keep a secret in the path or the query.
package enum Log {
  package static func line(_ event: String, _ facts: KeyValuePairs<String, String> = [:]) {
    let text = render(event, facts, at: WallClock.nowMilliseconds()).withoutCredentials
    // If the write fails, there is nobody to tell, so the result is ignored.
    _ = unsafe text.utf8CString.withUnsafeBufferPointer { unsafe write(2, $0.baseAddress, $0.count - 1) }
  }

  static func render(
    _ event: String, _ facts: KeyValuePairs<String, String>, at milliseconds: Int64
  ) -> String {
    var line = "\(Timestamp.text(milliseconds: milliseconds)) \(event)"
    for (name, value) in facts { line += " \(name)=\(quoted(value))" }
    return line + "\n"
  }

  /// Values are quoted unless they are clear without quotes. A line break inside a value would look like a
  /// line of its own, and `target=made=/v1/servers/12` like a fact named `target` and another one named `made`.
  private static func quoted(_ value: String) -> String {
    let unclear: [UInt8] = [UInt8(ascii: "\""), UInt8(ascii: "=")]
    let isPlain =
      !value.isEmpty && value.utf8.allSatisfy { (0x21...0x7E).contains($0) && !unclear.contains($0) }
    if isPlain { return value }
    return String(decoding: JSONText.bytes(of: .string(value)), as: UTF8.self)
  }
}
