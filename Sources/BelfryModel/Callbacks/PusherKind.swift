/// The kind of service that pushes to a device.
package enum PusherKind: String, Sendable, CaseIterable {
  /// A gateway as Matrix has them, which connects to Apple's, Google's and other services.
  case matrix
  /// A browser's push service, or a distributor of UnifiedPush.
  case webpush
}
