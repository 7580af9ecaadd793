/// The settings for pages in browsers.
package struct BrowserSettings: Sendable, Hashable {
  /// The origins whose pages may send requests.
  package var allowedOrigins: [WebOrigin] = []
  /// True if a token may be put into a cookie.
  package var givesCookies = false
  /// The names that the broker answers to; empty: all names.
  package var hosts: [HostName] = []

  /// The most elements in either list. Each request is compared with all of them.
  static let listMax = 100

  package init() {}
}
