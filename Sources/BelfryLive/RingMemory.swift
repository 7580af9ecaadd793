/// The memory that all rings of a hub take, and how far back they go.
final class RingMemory {
  /// The bytes that all rings may take together. One ring has a limit of its own, and an account may follow thousands of spaces.
  var bytesMost = 64 * 1_024 * 1_024
  private(set) var bytes = 0
  /// The sequence number up to which rings forget when the time has passed.
  private var horizon: UInt64 = 0
  /// All rings have forgotten what arrived up to this sequence number.
  private var forgottenThrough: UInt64 = 0

  func hold(_ change: Int) { bytes += change }

  /// Called in the interval after which rings forget: has them forget what had arrived when this was called before.
  func forgetOld(in spaces: some Sequence<ActiveSpace>, latest: UInt64) {
    forget(through: horizon, in: spaces)
    horizon = latest
  }

  /// Called when something has arrived. If the rings take more than they may, they forget what arrived first, until they
  /// take half of it: so that is not soon needed again. Consumers that have yet to take what is forgotten read it from the
  /// store.
  func keepWithinLimit(_ spaces: some Sequence<ActiveSpace>, latest: UInt64) {
    guard bytes > bytesMost else { return }
    while bytes > bytesMost / 2, forgottenThrough < latest {
      forget(through: forgottenThrough + (latest - forgottenThrough + 1) / 2, in: spaces)
    }
  }

  private func forget(through sequence: UInt64, in spaces: some Sequence<ActiveSpace>) {
    for active in spaces { active.ring.drop(through: sequence) }
    forgottenThrough = max(forgottenThrough, sequence)
  }
}
