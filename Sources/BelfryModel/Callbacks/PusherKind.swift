/// By what a device is pushed to.
package enum PusherKind: String, Sendable, CaseIterable {
  /// A gateway as Matrix has them, which stands for Apple's, Google's and others' services.
  case matrix
  /// A browser's push service, or a distributor of UnifiedPush.
  case webpush
}
