/// What pages in browsers may do.
package struct BrowserSettings: Sendable, Hashable {
  /// From where pages may ask.
  package var allowedOrigins: [WebOrigin] = []
  /// Whether a token may be put into a cookie.
  package var givesCookies = false
  /// By which names the broker answers; empty: by any.
  package var hosts: [HostName] = []

  /// Of either list: each request is compared with all of them.
  static let listMax = 100

  package init() {}
}
