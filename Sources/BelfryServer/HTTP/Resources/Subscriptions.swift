import BelfryModel
import BelfryStore

/// Subscriptions to a server's own notifications, and to a channel's. Beginning or ending one twice is
/// beginning or ending it once.
enum Subscriptions {
  static func begin(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    try await set(true, request, services)
  }

  static func end(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply {
    try await set(false, request, services)
  }

  private static func set(
    _ isSubscribed: Bool, _ request: Request, _ services: LoopServices
  ) async throws(Refusal) -> Reply {
    _ = try await services.runner.run(
      SetSubscription(
        try request.server(), channel: try request.channelIfAny(), actor: try request.known().actor,
        isSubscribed: isSubscribed))
    return .noContent
  }
}
