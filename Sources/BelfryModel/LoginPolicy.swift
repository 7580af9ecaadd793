/// The rule for an account's streams that may be open at a time, over all brokers: `logins` in the
/// configuration. The stream that opens later replaces those that may not be open together with it.
package enum LoginPolicy: String, Sendable, CaseIterable {
  case all
  /// One stream for each device that has a name. If two streams name no device, they may be of different
  /// devices, so both stay open.
  case onePerDevice
  case onePerAccount
}
