import BelfryInterface
import BelfryModel

/// A stream that an account has open.
///
/// ```swift
/// for stream in try await client.streams() {
///   print(stream.deviceId ?? "no device", stream.address, stream.openedAt)
/// }
/// ```
public struct OpenStream: Sendable, Hashable, Codable {
  /// The id of the stream.
  public var streamId: String
  /// The device that the stream names. Nil if it names none.
  public var deviceId: String?
  /// When the stream opened, in milliseconds since 1970.
  public var openedAt: Int64
  /// The address that the stream came from, as far as the broker knows. Behind a proxy that the broker does not trust, this
  /// is the address of the proxy.
  public var address: String
  /// The name of the broker that serves the stream.
  public var broker: String
}

extension BelfryClient {
  private struct OpenStreams: Decodable { var streams: [OpenStream] }
  private struct EndedStreams: Decodable { var ended: Int }
  private struct RevokedTokens: Decodable { var issuedBefore: Int64 }

  /// Lists the open streams of the account on all brokers, the oldest first.
  public func streams() async throws(BelfryError) -> [OpenStream] {
    try await value(OpenStreams.self, HTTPRequest(AccountStreamRoutes.list.route)).streams
  }

  /// Ends the streams of one device of the account. With nil it ends all streams, also those of this client.
  ///
  /// This logs nobody out: a device with a valid token can open another stream.
  ///
  /// - Returns: how many streams were open.
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

  /// Revokes all user tokens that were issued to the account so far, also that of this client, and ends the streams that were
  /// opened with them. A token that is issued after this call has returned is valid.
  ///
  /// - Returns: the time before which a token must have been issued to be void, in milliseconds since 1970.
  @discardableResult
  public func revokeTokens() async throws(BelfryError) -> Int64 {
    try await value(RevokedTokens.self, HTTPRequest(AccountStreamRoutes.revoke.route))
      .issuedBefore
  }
}
