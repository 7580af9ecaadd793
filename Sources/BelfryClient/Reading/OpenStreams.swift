import BelfryInterface
import BelfryModel

/// A stream that an account has open.
public struct OpenStream: Sendable, Hashable, Codable {
  public var streamId: String
  /// The device that it says it is; nil where it says nothing.
  public var deviceId: String?
  /// Milliseconds since 1970.
  public var openedAt: Int64
  /// From where, as far as its broker knows.
  public var address: String
  /// The name of the broker that has it.
  public var broker: String
}

extension BelfryClient {
  private struct OpenStreams: Decodable { var streams: [OpenStream] }
  private struct EndedStreams: Decodable { var ended: Int }
  private struct RevokedTokens: Decodable { var issuedBefore: Int64 }

  /// The streams that the account has open, on all brokers, the oldest first.
  public func streams() async throws(BelfryError) -> [OpenStream] {
    try await value(OpenStreams.self, HTTPRequest(AccountStreamRoutes.list.route)).streams
  }

  /// Ends the streams of one device of the account, or all of them, this client's own among them.
  /// - Returns: how many were open.
  @discardableResult
  public func endStreams(onDevice device: DeviceID? = nil) async throws(BelfryError) -> Int {
    let request =
      if let device {
        HTTPRequest(AccountStreamRoutes.endOnDevice.route, [device.text], isRepeatable: true)
      } else {
        HTTPRequest(AccountStreamRoutes.end.route, isRepeatable: true)
      }
    return try await value(EndedStreams.self, request).ended
  }

  /// Voids all tokens that were issued to the account so far, this client's own among them, and ends what was opened
  /// with them. A token that is issued after this has returned is good.
  /// - Returns: tokens issued before this time are void, milliseconds since 1970.
  @discardableResult
  public func revokeTokens() async throws(BelfryError) -> Int64 {
    try await value(RevokedTokens.self, HTTPRequest(AccountStreamRoutes.revoke.route))
      .issuedBefore
  }
}
