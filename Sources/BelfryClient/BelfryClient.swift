public import FoundationEssentials

/// A client of a Belfry broker. It sends notifications, receives them, and manages servers, channels and members.
///
/// ```swift
/// let client = BelfryClient(baseURL: address, token: token, device: DeviceID("phone-1"))
/// let receipt = try await client.send(NewNotification(toAccids: [bob], body: "Practice is at seven."))
/// print("sent as \(receipt.messageServerId)")
/// ```
///
/// A client is a value. Copies share their connections. The connections close when the last copy and the last feed of the
/// client are gone. All methods may be called from any task, also at the same time.
///
/// Every method throws ``BelfryError``. The methods name the codes that are special to them. Any method can also throw the
/// codes that any request can meet, such as ``BelfryError/Code/unauthorized`` and ``BelfryError/Code/transport``.
/// ``BelfryError/Code`` says what each code means and what to do about it. The codes of the methods are those that a user's
/// token meets. The token of an app or an operator may read and change everything, so it meets fewer of them.
public struct BelfryClient: Sendable {
  /// Returns the token for one request or one connection.
  ///
  /// The client calls it before every request and before every connection of a feed. So keep the token inside the closure,
  /// and fetch a new one there before the old one expires:
  ///
  /// ```swift
  /// let client = BelfryClient(baseURL: address) { try await fetchToken() }
  /// ```
  ///
  /// An error that it throws reaches the caller as ``BelfryError/Code/transport``, so a feed tries again after a pause.
  /// To end a feed, throw a ``BelfryError`` with the code ``BelfryError/Code/unauthorized``. It reaches the caller as it is.
  public typealias TokenProvider = @Sendable () async throws -> String

  /// The address of the broker. If it has a path, the client puts that path in front of the path of each request.
  public let baseURL: URL
  /// The account that the client acts for. Set it only with the token of an app or an operator: a user's token acts for its
  /// own account, and the broker refuses another one as ``BelfryError/Code/forbidden``.
  public var account: AccountID?
  /// The device that acts. Leave it nil if the token names the device.
  public var device: DeviceID?
  /// How many times in all the client tries a request that can safely be repeated, before it throws the error.
  public var attemptsLimit = 3

  let token: TokenProvider
  /// Carries requests that the broker answers at once.
  let requests: HTTPTransport
  /// Carries streams and long polls. They have connections of their own, so they never use up those of requests.
  let streams: HTTPTransport
  package var timing = ClientTiming()

  /// Makes a client that asks a closure for its token. Nothing is sent yet.
  ///
  /// - Parameters:
  ///   - baseURL: the address of the broker, with `http` or `https`.
  ///   - account: the account to act for, with the token of an app or an operator.
  ///   - device: the device that acts, if the token does not name it.
  ///   - authorityFile: the path of a PEM file, for `https`. The broker's certificate must be signed by one of the
  ///     certificate authorities in it. Nil means the authorities that the system trusts.
  ///   - token: returns the token for each request and each connection.
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

  /// Makes a client that uses one token for as long as it lives. Nothing is sent yet.
  ///
  /// - Parameters:
  ///   - baseURL: the address of the broker, with `http` or `https`.
  ///   - token: the token. When it expires, calls throw ``BelfryError/Code/unauthorized``.
  ///   - account: the account to act for, with the token of an app or an operator.
  ///   - device: the device that acts, if the token does not name it.
  ///   - authorityFile: the path of a PEM file, for `https`. The broker's certificate must be signed by one of the
  ///     certificate authorities in it. Nil means the authorities that the system trusts.
  public init(
    baseURL: URL, token: String, account: AccountID? = nil, device: DeviceID? = nil,
    authorityFile: String? = nil
  ) {
    self.init(
      baseURL: baseURL, account: account, device: device, authorityFile: authorityFile, token: { token })
  }
}
