import BelfryBytes

/// The address of a Redis, and the user for it.
package struct RedisEndpoint: Sendable, Hashable {
  package enum Address: Sendable, Hashable {
    case unixSocket(path: String)
    case tcp(host: String, port: UInt16)
    /// The address that the Sentinels name. They are asked before each connection.
    case master(of: SentinelGroup)
  }

  package static let defaultPort: UInt16 = 6379
  /// `sun_path` holds 108 bytes on Linux, a zero at the end included (unix(7)).
  package static let unixSocketPathBytesMax = 107

  package var address: Address
  /// Nil for Redis's `default` user.
  package var username: String?
  package var password: String?
  package var database = 0
  /// The encryption of the connection; nil: it is not encrypted.
  package var tls: RedisTLS?

  package init(_ address: Address) {
    self.address = address
  }

  package static func unixSocket(_ path: String) -> RedisEndpoint {
    RedisEndpoint(.unixSocket(path: path))
  }

  package static func tcp(_ host: String, _ port: UInt16 = defaultPort) -> RedisEndpoint {
    RedisEndpoint(.tcp(host: host, port: port))
  }
}

/// The text for errors and logs, and so without the credentials.
extension RedisEndpoint: CustomStringConvertible {
  package var description: String {
    let suffix = database == 0 ? "" : "/\(database)"
    return switch address {
    case .unixSocket(let path): "unix://\(path)" + (database == 0 ? "" : "?db=\(database)")
    case .tcp: "\(scheme)://\(address.hostPort)\(suffix)"
    case .master(let group): "\(scheme)+sentinel://\(group)\(suffix)"
    }
  }

  private var scheme: String { tls == nil ? "redis" : "rediss" }
}

extension RedisEndpoint.Address {
  /// The host and the port as in a URL.
  var hostPort: String {
    switch self {
    case .unixSocket(let path): path
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .master(let group): group.description
    }
  }

  /// Reads `host[:port]`.
  static func tcp(hostPort text: Substring, defaultPort: UInt16) throws(RedisError) -> Self {
    let (host, port) = try splitPort(text, defaultPort)
    guard !host.isEmpty else { throw .invalidEndpoint("the host is missing") }
    return .tcp(host: String(host), port: port)
  }

  private static func splitPort(
    _ authority: Substring, _ defaultPort: UInt16
  ) throws(RedisError) -> (Substring, UInt16) {
    let host: Substring
    var rest: Substring
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else {
        throw .invalidEndpoint("the bracket around the IPv6 address is not closed")
      }
      host = authority[..<end].dropFirst()
      rest = authority[end...].dropFirst()
    } else {
      host = authority.prefix { $0 != ":" }
      rest = authority[host.endIndex...]
    }
    if rest.isEmpty { return (host, defaultPort) }
    guard rest.removeFirst() == ":", let port = UInt16(rest), port > 0 else {
      throw .invalidEndpoint("the port must be a number from 1 to 65535")
    }
    return (host, port)
  }
}

extension RedisEndpoint {
  /// Reads `redis://[user:password@]host[:port][/database]`,
  /// `rediss://[user:password@]host[:port][/database][?ca=FILE&cert=FILE&key=FILE]` for TLS,
  /// `unix://[user:password@]/path[?db=database]`, or, if Sentinels name the master,
  /// `redis+sentinel://[user:password@]host[:port][,host[:port]…]/name[/database][?sentinel_username=…&sentinel_password=…]`
  /// or `rediss+sentinel://`. All parts except numbers, hosts and the socket's path may be percent-encoded.
  package init(url: String) throws(RedisError) {
    guard let separator = url.firstRange(of: "://") else {
      throw .invalidEndpoint(Self.schemes)
    }
    let scheme = url[..<separator.lowerBound]
    let (credentials, rest) = RedisEndpoint.splitCredentials(url[separator.upperBound...])
    switch scheme {
    case "redis": try self.init(hostPortDatabase: rest)
    case "unix": try self.init(pathDatabase: rest)
    case "rediss":
      let place = rest.prefix { $0 != "?" }
      try self.init(hostPortDatabase: place)
      tls = try RedisTLS(query: rest.dropFirst(place.count + 1))
    case "redis+sentinel": try self.init(sentinels: rest, isEncrypted: false)
    case "rediss+sentinel": try self.init(sentinels: rest, isEncrypted: true)
    // The scheme is not repeated. If the parts are in another order, it may be the password.
    default: throw .invalidEndpoint(Self.schemes)
    }
    try setCredentials(credentials)
  }

  private static let schemes =
    "it must begin with redis://, rediss://, unix://, redis+sentinel:// or rediss+sentinel://"

  private static func splitCredentials(_ text: Substring) -> (Substring?, Substring) {
    let authority = text.prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@") else { return (nil, text) }
    return (text[..<at], text[text.index(after: at)...])
  }

  private init(hostPortDatabase text: Substring) throws(RedisError) {
    let authority = text.prefix { $0 != "/" }
    self.init(try .tcp(hostPort: authority, defaultPort: RedisEndpoint.defaultPort))
    let database = text.dropFirst(authority.count + 1)
    if !database.isEmpty { try setDatabase(database) }
  }

  private init(pathDatabase text: Substring) throws(RedisError) {
    let path = text.prefix { $0 != "?" }
    guard path.hasPrefix("/") else {
      throw .invalidEndpoint("the socket's path must be absolute, such as unix:///run/redis.sock")
    }
    guard path.utf8.count <= RedisEndpoint.unixSocketPathBytesMax else {
      throw .invalidEndpoint("the socket's path is longer than \(RedisEndpoint.unixSocketPathBytesMax) bytes")
    }
    self.init(.unixSocket(path: String(path)))
    let query = text.dropFirst(path.count + 1)
    if query.isEmpty { return }
    guard query.hasPrefix("db=") else { throw .invalidEndpoint("only ?db= may follow the path") }
    try setDatabase(query.dropFirst(3))
  }

  mutating func setDatabase(_ text: Substring) throws(RedisError) {
    guard let number = UInt16(text) else {
      throw .invalidEndpoint(
        "the database must be a number; in a password, write / as %2F, @ as %40 and # as %23")
    }
    database = Int(number)
  }

  private mutating func setCredentials(_ text: Substring?) throws(RedisError) {
    guard let text else { return }
    let user = text.prefix { $0 != ":" }
    guard user.endIndex < text.endIndex else {
      throw .invalidEndpoint("the password is missing: write user:password@ or :password@")
    }
    let password = text[user.endIndex...].dropFirst()
    guard let decodedUser = percentDecoded(user.utf8, plusIsSpace: false),
      let decodedPassword = percentDecoded(password.utf8, plusIsSpace: false)
    else {
      throw .invalidEndpoint("the user or the password has an invalid percent-encoding")
    }
    username = decodedUser.isEmpty ? nil : decodedUser
    self.password = decodedPassword
  }
}

extension RedisError {
  // The URL itself is not repeated, because it may hold a password.
  static func invalidEndpoint(_ cause: String) -> RedisError {
    RedisError(.invalidEndpoint, cause: cause, place: "Redis URL")
  }
}
