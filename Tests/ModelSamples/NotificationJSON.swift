package import BelfryModel

extension LogEntry {
  /// The notification as consumers receive it.
  package var notificationJSON: String {
    var bytes: [UInt8] = []
    appendNotification(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}
