/// How a copy is written for who receives it.
package enum WebhookFormat: String, Sendable, CaseIterable {
  /// Belfry's own, as Standard Webhooks suggests it: `{type, timestamp, data}`.
  case belfry
  /// CloudEvents 1.0, in its structured mode.
  case cloudevents
}
