import BelfryBytes

/// The Sentinels that watch a master, and their name for it.
package struct SentinelGroup: Sendable, Hashable {
  package static let defaultPort: UInt16 = 26_379

  /// The master's name, as in `sentinel monitor NAME`.
  package var name: String
  /// The configured Sentinels. They name further ones.
  package var sentinels: [RedisEndpoint.Address]
  /// The user for the Sentinels; the master has credentials of its own.
  package var username: String?
  package var password: String?

  package init(name: String, sentinels: [RedisEndpoint.Address]) {
    (self.name, self.sentinels) = (name, sentinels)
  }

  /// Reads `host[:port][,host[:port]…]/name`. Errors name each Sentinel by its number.
  fileprivate init(hosts: Substring, name: Substring) throws(RedisError) {
    var sentinels: [RedisEndpoint.Address] = []
    for (index, text) in hosts.split(separator: ",", omittingEmptySubsequences: false).enumerated() {
      do throws(RedisError) {
        sentinels.append(try .tcp(hostPort: text, defaultPort: Self.defaultPort))
      } catch {
        throw .invalidEndpoint("Sentinel \(index + 1): \(error.cause)")
      }
    }
    guard !name.isEmpty else {
      throw .invalidEndpoint("the master's name is missing, as in redis+sentinel://host:26379/NAME")
    }
    guard let decoded = percentDecoded(name.utf8, plusIsSpace: false) else {
      throw .invalidEndpoint("the master's name has an invalid percent-encoding")
    }
    self.init(name: decoded, sentinels: sentinels)
  }

  /// Takes the fields of a query that are for the Sentinels.
  /// - Returns: the other fields.
  fileprivate mutating func takeCredentials(of query: Substring) throws(RedisError) -> [Substring] {
    var others: [Substring] = []
    for field in query.split(separator: "&") {
      let key = field.prefix { $0 != "=" }
      guard key == "sentinel_username" || key == "sentinel_password" else {
        others.append(field)
        continue
      }
      guard let value = percentDecoded(field.dropFirst(key.count + 1).utf8, plusIsSpace: false),
        !value.isEmpty
      else { throw .invalidEndpoint("\(key)= is empty, or has an invalid percent-encoding") }
      if key == "sentinel_username" { username = value } else { password = value }
    }
    guard username == nil || password != nil else {
      throw .invalidEndpoint("sentinel_username= needs sentinel_password=")
    }
    return others
  }
}

/// The text for errors and logs, and so without the credentials.
extension SentinelGroup: CustomStringConvertible {
  package var description: String {
    sentinels.map(\.hostPort).joined(separator: ",") + "/" + name
  }
}

extension RedisEndpoint {
  /// Reads `host[:port][,host[:port]…]/name[/database][?sentinel_username=…&sentinel_password=…]`.
  /// - Parameter isEncrypted: true if the files for TLS may follow, too.
  init(sentinels text: Substring, isEncrypted: Bool) throws(RedisError) {
    let place = text.prefix { $0 != "?" }
    let hosts = place.prefix { $0 != "/" }
    let name = place.dropFirst(hosts.count + 1).prefix { $0 != "/" }
    var group = try SentinelGroup(hosts: hosts, name: name)
    let others = try group.takeCredentials(of: text.dropFirst(place.count + 1))
    self.init(.master(of: group))
    let database = place.dropFirst(hosts.count + 1 + name.count + 1)
    if !database.isEmpty { try setDatabase(database) }
    // A key is not repeated: after an & that was not escaped, it may be the rest of a password.
    let keys = isEncrypted ? ["ca", "cert", "key"] : []
    guard others.allSatisfy({ field in keys.contains { field.prefix { $0 != "=" } == $0 } }) else {
      let all = ["sentinel_username", "sentinel_password"] + keys
      throw .invalidEndpoint("only ?\(all.map { $0 + "=" }.joined(separator: ", ")) may follow the name")
    }
    if isEncrypted { tls = try RedisTLS(query: others.joined(separator: "&")[...]) }
  }

  /// The Sentinels that name its address; nil if the endpoint has an address of its own.
  package var sentinels: SentinelGroup? {
    if case .master(let group) = address { group } else { nil }
  }

  package var hasPassword: Bool { password != nil || sentinels?.password != nil }
}
