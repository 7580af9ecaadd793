package import BelfryModel
package import BelfryStore
import Synchronization

/// All endpoints, as Redis had them a moment ago. All loops of a broker share them.
package final class WebhookEndpoints: Sendable {
  package static let interval: Duration = .seconds(1)

  /// An endpoint, and its record as it was read. A change is written only if Redis still has that record.
  package struct Kept: Sendable {
    package var endpoint: WebhookEndpoint
    package var record: String
  }

  private struct Content {
    var version: String?
    /// The beginning of the latest look.
    var lookedAt: ContinuousClock.Instant?
    var kept: [EntityID: Kept] = [:]
  }

  private let content = Mutex(Content())

  package init() {}

  package var all: [WebhookEndpoint] {
    content.withLock { $0.kept.values.map(\.endpoint).sorted { $0.id < $1.id } }
  }
  /// The endpoints that get deliveries.
  var enabled: [WebhookEndpoint] {
    content.withLock { content in
      content.kept.values.map(\.endpoint).filter { $0.disabledBecause == nil }
    }
  }
  /// The number of endpoints that brokers have disabled. Those that a caller disabled do not count.
  package var givenUp: Int {
    content.withLock { content in
      content.kept.values.count { [.gone, .failing].contains($0.endpoint.disabledBecause) }
    }
  }
  package var isEmpty: Bool { content.withLock { $0.kept.isEmpty } }

  /// It changes whenever endpoints may have changed or are to get deliveries again.
  var version: String? { content.withLock { $0.version } }

  package func kept(_ id: EntityID) -> Kept? { content.withLock { $0.kept[id] } }

  /// Reads them if they have changed. Loops look at the same time, and the answer to an earlier look may come later.
  package func refresh(from store: RedisStore) async throws(StoreError) {
    let now = ContinuousClock.now
    let version = try await store.webhooksVersion()
    if content.withLock({ $0.version == version }) { return }
    let kept = try await store.webhooks().compactMap { id, record in
      WebhookEndpoint(id: id, record: record).map { Kept(endpoint: $0, record: record) }
    }
    replaceKept(by: kept, version: version, lookedAt: now)
  }

  /// - Parameter lookedAt: when Redis was asked, at the earliest. The answer to a later look is not replaced.
  func replaceKept(by found: [Kept], version: String?, lookedAt: ContinuousClock.Instant) {
    content.withLock { content in
      if let latest = content.lookedAt, latest > lookedAt { return }
      content = Content(
        version: version, lookedAt: lookedAt,
        kept: Dictionary(found.map { ($0.endpoint.id, $0) }) { $1 })
    }
  }

  package static func newVersion() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }
}
