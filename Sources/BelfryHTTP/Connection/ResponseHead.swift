import BelfryBytes
import Glibc

/// The status line and the headers of an answer.
enum ResponseHead {
  enum Framing {
    case length(Int)
    case chunked
    /// The end of the connection is the end of the body, for HTTP/1.0.
    case untilClose
    /// No length is given: there is no body, and the body that is left out has no length.
    case untold
  }

  /// - Parameters:
  ///   - isLast: the connection ends after the answer.
  ///   - date: as ``HTTPDate`` has it.
  static func render(
    status: Int, headers: [(name: String, value: String)], framing: Framing, isLast: Bool, date: [UInt8]
  ) -> [UInt8] {
    var head: [UInt8] = []
    head.reserveCapacity(usualBytes)
    head.append("HTTP/1.1 " as StaticString)
    head.append(String(status))
    head.append(UInt8(ascii: " "))
    head.append(reason(status))
    head.append("\r\nDate: " as StaticString)
    head += date
    head += lineEnd
    if isLast { head.append("Connection: close\r\n" as StaticString) }
    switch framing {
    // RFC 9110 section 8.6: an answer that can have no body has no length either.
    case .length(0) where status == 204 || status == 304: break
    case .length(let count): append("Content-Length", String(count), to: &head)
    case .chunked: head.append("Transfer-Encoding: chunked\r\n" as StaticString)
    case .untilClose, .untold: break
    }
    for (name, value) in headers where isHeaderText(name) && isHeaderText(value) {
      append(name, value, to: &head)
    }
    head += lineEnd
    return head
  }

  private static let usualBytes = 512
  private static let lineEnd: [UInt8] = [0x0D, 0x0A]

  private static func append(_ name: String, _ value: String, to head: inout [UInt8]) {
    head.append(name)
    head.append(": " as StaticString)
    head.append(value)
    head += lineEnd
  }

  /// True if a text may stand in a header. A line break would begin another header.
  static func isHeaderText(_ text: String) -> Bool {
    !text.utf8.contains { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7F }
  }

  /// RFC 9110 section 15. Clients go by the number.
  private static func reason(_ status: Int) -> String {
    switch status {
    case 100: "Continue"
    case 101: "Switching Protocols"
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 417: "Expectation Failed"
    case 421: "Misdirected Request"
    case 422: "Unprocessable Content"
    case 426: "Upgrade Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 505: "HTTP Version Not Supported"
    default: "Unknown"
    }
  }
}

/// The date of answers, made once a second.
struct HTTPDate {
  private var second: time_t = -1
  private var bytes: [UInt8] = []

  var text: [UInt8] {
    mutating get {
      let now = time(nil)
      if now != second { (second, bytes) = (now, Array(Self.text(now).utf8)) }
      return bytes
    }
  }

  /// The form of RFC 9110 section 5.6.7, independent of the process's locale.
  static func text(_ time: time_t) -> String {
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
