package import BelfryOutbound
import BelfrySystem

/// The outcome of one try to deliver.
package enum WebhookOutcome: Sendable, Hashable {
  case delivered(status: Int)
  case failed(WebhookFailure)
  /// The receiver answered 410: it wants no more deliveries.
  case gone
  /// Nothing was sent, and nothing is known.
  case notTried

  package var isDelivered: Bool { if case .delivered = self { true } else { false } }
}

/// The reason why a copy was not taken.
package struct WebhookFailure: Sendable, Hashable {
  /// The reason in words.
  package var cause: String
  /// The status of the answer. Nil if there was no answer.
  package var status: Int?
  /// When to try again, as the receiver wrote it.
  package var retryAfter: String?
}

extension OutboundClient {
  /// The most bytes of an answer that are taken. Only its status is read.
  private static let webhookAnswerMaxBytes = 64 << 10

  package func deliver(
    _ event: WebhookEvent, to endpoint: WebhookEndpoint, timeout: Duration
  ) async -> WebhookOutcome {
    let now = WallClock.nowMilliseconds()
    let body = event.body(endpoint.format)
    let headers = WebhookHeaders(
      id: event.id, body: body, secrets: endpoint.secrets(nowMilliseconds: now), nowSeconds: now / 1_000)
    let request = OutboundRequest(
      .post, endpoint.url, headers: headers.all + [("Content-Type", event.mediaType(endpoint.format))],
      body: body, deadline: timeout, answerMaxBytes: Self.webhookAnswerMaxBytes)
    do throws(OutboundError) {
      let response = try await send(request)
      switch response.status {
      case 200..<300: return .delivered(status: response.status)
      case 410: return .gone
      default:
        return .failed(
          WebhookFailure(
            cause: "it answered with status \(response.status)", status: response.status,
            retryAfter: response.retryAfter))
      }
    } catch {
      switch error.code {
      case .busy, .notBegun, .cancelled: return .notTried
      case .refusedAddress, .unreachable, .timedOut, .tooLarge:
        return .failed(WebhookFailure(cause: error.cause))
      }
    }
  }
}
