import BelfryModel
import BelfryStore

/// Whether the process is alive, and whether it is of use.
enum Health {
  static let aliveShape = Shape.object([.always("status", .words(["ok"]), "how it is")])
  static let readyShape = Shape.object([
    .always("status", .words(["ready"]), "how it is"),
    .sometimes(
      "differing", .list(.text), "settings that are others here than the keyspace's brokers should have"),
    .sometimes(
      "memory", .words(["full"]),
      "Redis is at maxmemory: sends are refused, and what makes room, as marking read, goes on"),
  ])

  static func isAlive(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    .json(["status": "ok"])
  }

  /// Ready: the store answers, and the broker is not on its way out. Who balances load sends elsewhere
  /// otherwise.
  static func isReady(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    if services.isDraining { throw Refusal(.unavailable, "this broker is shutting down") }
    guard await services.broker.isConnected() else {
      throw Refusal(
        .unavailable,
        services.broker.keyspace.refusal ?? "not every loop of this broker has reached Redis yet",
        retryAfterSeconds: 1)
    }
    // That it answers is what is asked; what it answers is told beside.
    let isFull = try await reading { () async throws(StoreError) in try await services.store.isMemoryFull() }
    // Anybody may ask: the names, and no values.
    let differing = services.broker.keyspace.differences.map { JSONValue.string($0.setting) }
    var answer: JSONObject = ["status": "ready"]
    if !differing.isEmpty { answer["differing"] = .array(differing) }
    if isFull { answer["memory"] = "full" }
    return .json(.object(answer))
  }
}

extension Health {
  /// Rendered once: it is what the program is.
  private static let description = Reply.json(OpenAPIDocument.value)

  static func describe(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    description
  }
}

/// What the store refuses, as what the caller is told.
func reading<Value>(_ read: () async throws(StoreError) -> Value) async throws(Refusal) -> Value {
  do {
    return try await read()
  } catch {
    throw error.refusal
  }
}
