import BelfryHTTP
import BelfryLive
import BelfryModel

// The reasons with which sockets end, in the codes that RFC 6455 leaves to applications.

extension WebSocketClose {
  /// The broker is shutting down, or has no room. The client should connect again.
  static let draining = WebSocketClose(3_000, "this broker ends the connection: connect again")
  static let badFrame = 4_400
  static let unauthorized = 4_401
  static let notInTime = 4_408
  static let tooMuch = 4_429

  init(_ reason: KickReason) {
    switch reason {
    case .shutdown: self = .draining
    case .replaced: self.init(3_001, "another stream of the account took its place")
    case .ended: self.init(3_002, "somebody who may act for the account ended the stream")
    case .tokenRevoked: self.init(3_002, "the token was revoked")
    case .tokenExpired: self.init(Self.unauthorized, "the token has expired")
    }
  }

  /// The close after a connect frame that was refused.
  init(_ refusal: Refusal) {
    switch refusal.code {
    case .unauthorized, .tokenRevoked, .forbidden: self.init(Self.unauthorized, refusal.detail)
    case .tooMany, .rateLimited: self.init(Self.tooMuch, refusal.detail)
    case .unavailable, .unknownOutcome, .busy: self.init(Self.draining.code, refusal.detail)
    default: self.init(Self.badFrame, refusal.detail)
    }
  }

  static let noConnect = WebSocketClose(notInTime, "no connect frame in time")
  static let silent = WebSocketClose(notInTime, "the client was silent for too long")
  static let tooManyFrames = WebSocketClose(tooMuch, "too fast: frames without an operation are also limited")
  static let notConnected = WebSocketClose(badFrame, "the first frame must be connect")
}
