import BelfryModel
import BelfryStore

/// Whether the process is alive, and whether it is of use.
enum Health {
  static let shape = Shape.object([.always("status", .words(["ok", "ready"]), "how it is")])

  static func isAlive(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    .json(["status": "ok"])
  }

  /// Ready: the store answers, and the broker is not on its way out. Who balances load sends elsewhere
  /// otherwise.
  static func isReady(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    if services.isDraining { throw Refusal(.unavailable, "this broker is shutting down") }
    guard await services.broker.isConnected() else {
      throw Refusal(.unavailable, "not every loop of this broker has reached Redis yet", retryAfterSeconds: 1)
    }
    _ = try await reading { () async throws(StoreError) in
      try await services.store.lastIDs(of: [Partition(holding: "readyz")])
    }
    return .json(["status": "ready"])
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
