import BelfryHTTP
import BelfryInterface
import BelfryModel
import BelfryStore

/// Answers if the process is alive, and if it is ready; describes its interface.
enum Health {
  static let handlers: [Handler] = [
    BrokerRoutes.alive.handled { _, _ in .json(["status": "ok"]) },
    BrokerRoutes.ready.handled(by: isReady),
    BrokerRoutes.description.handled { _, _, known in description.answer(unless: known) },
    BrokerRoutes.types.handled { _, _, known in types.answer(unless: known) },
  ]

  // Rendered once, because it never changes while the program runs.
  private static let description = StaticDocument(OpenAPIDocument.value)
  private static let types = StaticDocument([
    "types": .array(Catalogue.all.sorted { $0.code < $1.code }.map(\.info))
  ])

  /// Ready means that the store answers and that the broker is not shutting down. Otherwise a load balancer
  /// sends requests to another broker.
  private static func isReady(
    _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> HTTPResponse {
    if services.isDraining { throw Unreadiness.shuttingDown.refusal }
    guard await services.broker.isConnected() else { throw services.broker.absence.refusal }
    // Readiness depends only on an answer of Redis. Refused writes are reported in addition.
    let room: RedisRoom
    do throws(StoreError) {
      room = try await services.store.readRoom()
    } catch {
      if error.code == .accessRefused { throw Unreadiness.accessRefused(.noPermission).refusal }
      throw services.broker.absence.refusal
    }
    let refused = services.broker.condition.note(room)
    // Anybody may ask, so the answer has the names of the settings and no values.
    let differing = services.broker.keyspace.differences.map { JSONValue.string($0.setting) }
    var answer: JSONObject = ["status": "ready"]
    if !differing.isEmpty { answer["differing"] = .array(differing) }
    for refusal in refused { answer[refusal.rawValue] = refusal == .rights ? "missing" : "full" }
    // All brokers miss the same node, so another one would serve no better.
    if room.partitionsAway > 0 { answer["partitionsAway"] = .integer(Int64(room.partitionsAway)) }
    switch services.broker.condition.sweepDoubt {
    case .apart?: answer["clock"] = "apart"
    case .ahead?: answer["clock"] = "ahead"
    // This is usual after a time without brokers.
    case .unproven?, nil: break
    }
    return .json(.object(answer))
  }
}
