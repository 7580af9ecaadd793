import BelfryLive
import BelfryModel
import BelfryStore

/// The client of a page that waits, as all brokers see it: a live device, to which nothing is pushed. It is registered only
/// when the page has nothing to show, so a page that is answered at once costs Redis nothing more.
final class WaitingClient: RegisteredStream {
  let account: AccountID
  let address: String
  var registered = StreamRegistry.Place()
  private let registry: StreamRegistry

  init(of account: AccountID, from address: String, in registry: StreamRegistry) {
    self.account = account
    self.address = address
    self.registry = registry
  }

  var device: DeviceID? { nil }
  var isWaitingPage: Bool { true }

  func beginWaiting() { registry.opened(self) }

  /// Does nothing if the page did not wait.
  func close() { registry.closed(self) }

  /// Nobody ends a page that waits. It ends with its time.
  func end(_ end: StreamEnd) {}
}
