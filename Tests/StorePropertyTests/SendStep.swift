import BelfryModel

/// A custom notification, in any of its forms.
struct SendStep: Sendable {
  var by: Int?
  var server: Int?
  var channel: Int?
  var group: Int?
  var room: Int?
  var accounts: [Int]?
  var clientId: String?
  var body: String
  var attach: JSONValue?
  var isPersisted: Bool
  var expiry = Expiry.never
}

/// When a notification expires.
enum Expiry: Sendable {
  case never
  /// Later than the walk ends.
  case late
  /// Before the next step, and not before it is sent.
  case soon
  /// It has, already.
  case past
}
