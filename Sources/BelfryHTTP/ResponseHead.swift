import CMicroHTTPD
import Glibc

/// The status line and headers of answers that are written without MHD: streams, and refusals while a request is still
/// arriving. Their connections always close.
enum ResponseHead {
  enum Framing {
    case length(Int)
    case chunked
    /// The end of the connection is the end of the body, for HTTP/1.0.
    case untilClose
  }

  static func render(
    status: Int, headers: [(name: String, value: String)], framing: Framing, now: time_t = time(nil)
  ) -> [UInt8] {
    var text = "HTTP/1.1 \(status) \(reason(status))\r\nDate: \(date(now))\r\nConnection: close\r\n"
    switch framing {
    case .length(let count): text += "Content-Length: \(count)\r\n"
    case .chunked: text += "Transfer-Encoding: chunked\r\n"
    case .untilClose: break
    }
    for (name, value) in headers where isHeaderText(name) && isHeaderText(value) {
      text += "\(name): \(value)\r\n"
    }
    return Array((text + "\r\n").utf8)
  }

  static func render(_ response: HTTPResponse) -> [UInt8] {
    render(status: response.status, headers: response.headers, framing: .length(response.body.count))
      + response.body
  }

  /// Whether a text may stand in a header. A line break would begin another header.
  static func isHeaderText(_ text: String) -> Bool {
    !text.utf8.contains { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7F }
  }

  private static func reason(_ status: Int) -> String {
    guard let status = UInt32(exactly: status), let reason = unsafe MHD_get_reason_phrase_for(status) else {
      return "Unknown"
    }
    return unsafe String(cString: reason)
  }

  /// As RFC 9110 section 5.6.7 has it, whatever the process's locale.
  static func date(_ time: time_t) -> String {
    var time = time
    var parts = unsafe tm()
    unsafe gmtime_r(&time, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let clock = [unsafe parts.tm_hour, unsafe parts.tm_min, unsafe parts.tm_sec].map(padded)
    let day = unsafe "\(days[Int(parts.tm_wday)]), \(padded(parts.tm_mday)) \(months[Int(parts.tm_mon)])"
    return unsafe "\(day) \(1_900 + parts.tm_year) \(clock.joined(separator: ":")) GMT"
  }
}
