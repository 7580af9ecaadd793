import BelfryModel
import BelfryOutbound
import BelfrySystem

/// The outcome of one request to a gateway or a push service.
package enum PushOutcome: Sendable, Hashable {
  case delivered
  /// The device is no longer known there.
  case gone
  /// The request failed. The parts are the reason in words, and when to try again, as the answer said.
  case failed(String, retryAfter: String?, PushFailureScope)
  /// The request will fail each time.
  case refused(String)
  /// Nothing was sent, and nothing is known.
  case notTried
}

/// The devices that a failure concerns.
package enum PushFailureScope: Sendable, Hashable {
  /// Perhaps this one alone, since the receiver answers. An account may name any path at a push service that others use, too.
  case device
  /// All devices of the receiver: it does not answer, or says that it is not well.
  case receiver

  init(status: Int) { self = status >= 500 ? .receiver : .device }
}

extension PushOutcome {
  fileprivate static func failed(with response: OutboundResponse) -> PushOutcome {
    .failed(
      "it answered with status \(response.status)", retryAfter: response.retryAfter,
      PushFailureScope(status: response.status))
  }
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
        case nil: return .failed("its answer is not that of a push gateway", retryAfter: nil, .device)
        }
      case 404, 410: return .gone
      default: return .failed(with: response)
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
      default: .failed(with: response)
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
      case .tooLarge: return .failed(error.cause, retryAfter: nil, .device)
      case .refusedAddress, .unreachable, .timedOut: return .failed(error.cause, retryAfter: nil, .receiver)
      }
    }
  }
}
