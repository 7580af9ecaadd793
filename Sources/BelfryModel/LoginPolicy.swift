/// Which of an account's streams may be open at a time, over all brokers: `logins` in the configuration. The stream that
/// opens later replaces those that may not be beside it.
package enum LoginPolicy: String, Sendable, CaseIterable {
  case all
  /// Of each device that has a name. Nobody can tell whether two streams that name none are one device's.
  case onePerDevice
  case onePerAccount
}
