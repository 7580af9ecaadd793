import BelfryBytes
import BelfryHTTP
import BelfryModel

/// The cookie that stands for a token. It holds the token itself. So any broker can check it, and it ends
/// when the token ends, by time or by revocation.
struct SessionCookie: Sendable, Hashable {
  /// Controls if browsers send the cookie with requests that pages of other sites cause (RFC 6265bis section
  /// 5.6.7).
  enum SameSite: String {
    case strict = "Strict"
    case none = "None"
  }

  let name: String
  private let isSecure: Bool

  /// Browsers accept the first name only over TLS, for the whole host, and only from the host itself. The
  /// loopback usually has no TLS.
  static let secure = SessionCookie(name: "__Host-belfry", isSecure: true)
  static let onLoopback = SessionCookie(name: "belfry-session", isSecure: false)

  /// Browsers store no cookie with a name and a value of more than 4,096 bytes together (RFC 6265bis section
  /// 5.6).
  static let tokenBytesMax = 4_000

  private init(name: String, isSecure: Bool) { (self.name, self.isSecure) = (name, isSecure) }

  /// The cookie that the answer to this request sets. A client on this machine that uses a loopback name gets
  /// the second cookie, unless something shows that a proxy is in between. The proxy may speak TLS, and many
  /// proxies write their own name into `Host`.
  /// - Parameter isEncrypted: true if the broker itself speaks TLS.
  static func given(to head: HTTPRequestHead, isEncrypted: Bool) -> SessionCookie {
    if isEncrypted || isPageEncrypted(head) || namesProxy(head) { return secure }
    let host = head.host.flatMap { HostName(Substring($0)) }
    return head.client.isLoopback && host?.isLoopback == true ? onLoopback : secure
  }

  /// The cookies that a request may bring, in the order in which they are looked for. A page behind a proxy
  /// brings the first one, but not each of its requests shows that there is a proxy.
  static func taken(from head: HTTPRequestHead, isEncrypted: Bool) -> [SessionCookie] {
    given(to: head, isEncrypted: isEncrypted) == onLoopback ? [secure, onLoopback] : [secure]
  }

  private static func isPageEncrypted(_ head: HTTPRequestHead) -> Bool {
    head.headers[CrossOrigin.origin]?.utf8.starts(with: "https://".utf8) ?? false
  }

  private static func namesProxy(_ head: HTTPRequestHead) -> Bool {
    proxyFields.contains { head.headers.contains($0) }
  }

  /// The fields that proxies add to a request (RFC 9110 section 7.6.3, RFC 7239, and their predecessors).
  private static let proxyFields = [
    "Via", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP",
  ]

  func field(holding token: UTF8Text, seconds: Int64, sameSite: SameSite) -> (name: String, value: String) {
    let secure = isSecure ? "; Secure" : ""
    return (
      "Set-Cookie",
      "\(name)=\(token); Path=/; Max-Age=\(seconds); HttpOnly\(secure); SameSite=\(sameSite.rawValue)"
    )
  }

  /// The header that makes the browser delete the cookie.
  var ending: (name: String, value: String) { field(holding: "", seconds: 0, sameSite: .strict) }

  /// The cookie's value in a `Cookie` header (RFC 6265 section 4.2.1); nil if the header does not have it.
  /// - Throws: if the cookie occurs twice. Somebody else may have set one of the two.
  func value(in header: String) throws(Refusal) -> UTF8Text? {
    var found: UTF8Text?
    for part in header.utf8.split(separator: UInt8(ascii: ";")) {
      let pair = part.drop(while: Self.isSpace)
      guard let equals = pair.firstIndex(of: UInt8(ascii: "=")), pair[..<equals].elementsEqual(name.utf8)
      else {
        continue
      }
      guard found == nil else { throw .invalid(Self.header, "has \(name) twice") }
      var value = pair[equals...].dropFirst()
      while let last = value.last, Self.isSpace(last) { value.removeLast() }
      found = UTF8Text(Substring(value))
    }
    return found
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  static let header = "Cookie"

  /// True if the token fits into a cookie. The characters of a token (RFC 7515 section 7.1) are allowed in a
  /// cookie; a text with other characters is not stored.
  static func holds(_ token: UTF8Text) -> Bool {
    token.count <= tokenBytesMax
      && token.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
        }
      }
  }
}
