import BelfryModel
import BelfryStore

/// The time of day by which every broker decides everything in a step. It is read once, before the step: with
/// the store's own clock, a notification that expires soon would expire between its making and its sending on
/// a busy machine.
final class StepTime {
  private let store: any Store
  private(set) var milliseconds: Int64

  init(of store: any Store) async throws {
    self.store = store
    milliseconds = try await store.nowMilliseconds()
  }

  /// Never goes back: what has expired would be there again.
  func read() async throws { milliseconds = max(milliseconds, try await store.nowMilliseconds()) }
}

/// A store whose clock is that of the step.
final class StoreOfStep: ForwardingStore {
  private let time: StepTime

  init(_ base: any Store, _ time: StepTime) {
    self.time = time
    super.init(base)
  }

  override var estimatedMilliseconds: Int64? { time.milliseconds }
  override func nowMilliseconds() async throws(StoreError) -> Int64 { time.milliseconds }
}
