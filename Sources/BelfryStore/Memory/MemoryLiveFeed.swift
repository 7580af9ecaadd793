package import BelfryModel

/// The events of a ``MemoryStore``, published at once. Its connection breaks and returns when a test tells it
/// to.
package final class MemoryLiveFeed: LiveFeed {
  package var onMessage: ((SpaceID, LiveMessage) -> Void)?
  /// Never called: messages in memory are not read from text.
  package var onUnreadable: ((SpaceID) -> Void)?
  package var onHearingChange: ((Bool, [Partition]) -> Void)?
  package var isConnected = true {
    didSet {
      guard isConnected != oldValue else { return }
      onHearingChange?(isConnected, store.partitions.all)
    }
  }

  private let store: MemoryStore
  private var spaces: Set<SpaceID> = []

  package init(_ store: MemoryStore) {
    self.store = store
    store.listeners.append { [weak self] space, message in self?.hear(message, in: space) }
  }

  package func subscribe(_ space: SpaceID) throws(StoreError) {
    guard isConnected else { throw StoreError(.unavailable, "not connected", at: "subscribe \(space)") }
    spaces.insert(space)
  }

  package func unsubscribe(_ space: SpaceID) { spaces.remove(space) }

  private func hear(_ message: LiveMessage, in space: SpaceID) {
    guard isConnected, spaces.contains(space) else { return }
    onMessage?(space, message)
  }
}
