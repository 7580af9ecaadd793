public import FoundationEssentials

/// Talks to a Belfry broker over HTTP: sends notifications, receives them, and keeps servers, channels and
/// members.
///
/// A value: copies share their connections, which are closed when the last copy and the last stream are
/// gone. All methods may be called from anywhere, at the same time.
public struct BelfryClient: Sendable {
  /// Gives the token for one request or one connection. It is asked every time: keep the token, and renew
  /// it when it is about to expire, inside.
  public typealias TokenProvider = @Sendable () async throws -> String

  /// Where the broker is; a path in it is kept as a prefix.
  public let baseURL: URL
  /// The account to act for. Only app and operator tokens may; a user's token speaks for its own.
  public var account: AccountID?
  /// The device that acts, when the token does not name it.
  public var device: DeviceID?
  /// How often a request that can safely be repeated is tried before its error is thrown.
  public var attemptsLimit = 3

  let token: TokenProvider
  /// For everything that is answered at once.
  let requests: HTTPTransport
  /// For streams and long polls, which so never take the connections that requests need.
  let streams: HTTPTransport
  package var timing = ClientTiming()

  /// - Parameter authorityFile: for a base URL with `https`: a file, with PEM, of the authorities of which one has signed
  ///   the broker's certificate. nil: those that the system trusts.
  public init(
    baseURL: URL, account: AccountID? = nil, device: DeviceID? = nil, authorityFile: String? = nil,
    token: @escaping TokenProvider
  ) {
    self.baseURL = baseURL
    self.account = account
    self.device = device
    self.token = token
    requests = HTTPTransport(
      connectionsLimit: ClientLimits.requestConnections, authorityFile: authorityFile)
    streams = HTTPTransport(
      connectionsLimit: ClientLimits.streamConnections, authorityFile: authorityFile)
  }

  public init(
    baseURL: URL, token: String, account: AccountID? = nil, device: DeviceID? = nil,
    authorityFile: String? = nil
  ) {
    self.init(
      baseURL: baseURL, account: account, device: device, authorityFile: authorityFile, token: { token })
  }
}
