/// Headers of requests that every route with a token accepts.
package enum RequestHeader {
  /// The account that an app or operator token acts for.
  package static let account = "Belfry-Account"
  /// The device that asks, if the token does not name one.
  package static let device = "Belfry-Device"
}
