// A program that sends and receives needs the model's types by name. With this, one import brings both modules.
@_exported public import BelfryModel

extension BelfryClient {
  /// Belfry's notification, by a name that is never ambiguous: in a file that also imports Foundation, `Notification`
  /// alone could mean Foundation's.
  public typealias Notification = BelfryModel.Notification
}
