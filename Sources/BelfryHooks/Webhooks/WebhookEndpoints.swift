package import BelfryModel
package import BelfryStore
import Synchronization

/// All endpoints, as Redis had them a moment ago, for all loops of a broker.
package final class WebhookEndpoints: Sendable {
  package static let interval: Duration = .seconds(1)

  private struct Content {
    var version: String?
    var endpoints: [EntityID: WebhookEndpoint] = [:]
    var disabled: Set<EntityID> = []
    var failing: Set<EntityID> = []
  }

  private let content = Mutex(Content())

  package init() {}

  package var all: [WebhookEndpoint] { content.withLock { $0.endpoints.values.sorted { $0.id < $1.id } } }
  /// Those that are delivered to.
  var enabled: [WebhookEndpoint] {
    content.withLock { content in content.endpoints.values.filter { !content.disabled.contains($0.id) } }
  }
  package var isEmpty: Bool { content.withLock { $0.endpoints.isEmpty } }

  /// Another one whenever endpoints may have changed, or are to be delivered to again.
  var version: String? { content.withLock { $0.version } }

  package func endpoint(_ id: EntityID) -> WebhookEndpoint? { content.withLock { $0.endpoints[id] } }

  /// Whether the last that is known of it is that it failed.
  func isFailing(_ id: EntityID) -> Bool { content.withLock { $0.failing.contains(id) } }

  func note(_ id: EntityID, isFailing: Bool) {
    content.withLock { content in
      if isFailing { content.failing.insert(id) } else { content.failing.remove(id) }
    }
  }

  /// Reads them if they have changed.
  package func refresh(from store: RedisStore) async throws(StoreError) {
    let version = try await store.webhooksVersion()
    if content.withLock({ $0.version == version }) { return }
    let endpoints = try await store.webhooks().compactMap { WebhookEndpoint(id: $0.id, record: $0.text) }
    var disabled: Set<EntityID> = []
    var failing: Set<EntityID> = []
    for endpoint in endpoints {
      let health = try await store.webhookHealth(endpoint.id)
      if health["disabled"] != nil { disabled.insert(endpoint.id) }
      if health["failingSince"] != nil { failing.insert(endpoint.id) }
    }
    let found = Content(
      version: version, endpoints: Dictionary(endpoints.map { ($0.id, $0) }) { $1 }, disabled: disabled,
      failing: failing)
    content.withLock { $0 = found }
  }

  package static func newVersion() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }
}
