import BelfryModel
import BelfryOutbound
import BelfrySystem

/// The outcome of one request to a gateway or a push service.
package enum PushOutcome: Sendable, Hashable {
  case delivered
  /// The device is no longer known there.
  case gone
  /// The request failed. The parts are the reason in words, and when to try again, as the answer said.
  case failed(String, retryAfter: String?)
  /// The request will fail each time.
  case refused(String)
  /// Nothing was sent, and nothing is known.
  case notTried
}

extension OutboundClient {
  private static let pushAnswerMaxBytes = 64 << 10

  func push(
    _ body: [UInt8], to gateway: MatrixGateway, for account: AccountID, deadline: Duration
  ) async -> PushOutcome {
    let request = OutboundRequest(
      .post, gateway.url, headers: [("Content-Type", "application/json")], body: body, deadline: deadline,
      answerMaxBytes: Self.pushAnswerMaxBytes, owner: account.text)
    return await outcome(of: request) { response in
      switch response.status {
      case 200..<300:
        switch gateway.isRejected(by: response.body) {
        case true?: return .gone
        case false?: return .delivered
        case nil: return .failed("its answer is not that of a push gateway", retryAfter: nil)
        }
      case 404, 410: return .gone
      default:
        return .failed("it answered with status \(response.status)", retryAfter: response.retryAfter)
      }
    }
  }

  /// - Parameters:
  ///   - body: the body, encrypted for the subscription.
  ///   - topic: a message that is not yet delivered under the same topic is replaced.
  func push(
    _ body: [UInt8], to subscription: WebPushSubscription, for account: AccountID, authorization: String,
    topic: String, timeToLiveSeconds: Int64, deadline: Duration
  ) async -> PushOutcome {
    let request = OutboundRequest(
      .post, subscription.endpoint,
      headers: [
        ("Authorization", authorization), ("TTL", String(timeToLiveSeconds)), ("Urgency", "high"),
        ("Topic", topic),
        ("Content-Encoding", "aes128gcm"), ("Content-Type", "application/octet-stream"),
      ], body: body, deadline: deadline, answerMaxBytes: Self.pushAnswerMaxBytes, owner: account.text)
    return await outcome(of: request) { response in
      switch response.status {
      case 200..<300: .delivered
      case 404, 410: .gone
      // A message that is too large or that cannot be read will not change.
      case 400, 413: .refused("it answered with status \(response.status)")
      default: .failed("it answered with status \(response.status)", retryAfter: response.retryAfter)
      }
    }
  }

  private func outcome(
    of request: OutboundRequest, _ read: (OutboundResponse) -> PushOutcome
  ) async -> PushOutcome {
    do throws(OutboundError) {
      return read(try await send(request))
    } catch {
      switch error.code {
      case .busy, .notBegun, .cancelled: return .notTried
      case .refusedAddress, .unreachable, .timedOut, .tooLarge: return .failed(error.cause, retryAfter: nil)
      }
    }
  }
}
