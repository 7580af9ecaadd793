/// Headers of requests that any route with a token knows.
package enum RequestHeader {
  /// For whom an app's or an operator's token acts.
  package static let account = "Belfry-Account"
  /// The device that asks, where the token does not name one.
  package static let device = "Belfry-Device"
}
