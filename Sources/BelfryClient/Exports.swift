// A program that sends and receives needs the model's types by name: one import brings both modules.
@_exported public import BelfryModel

extension BelfryClient {
  /// In a file that imports Foundation too, `Notification` alone could also mean Foundation's.
  public typealias Notification = BelfryModel.Notification
}
