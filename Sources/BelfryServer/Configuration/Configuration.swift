package import BelfryBytes
package import BelfryModel
import Foundation

/// Everything a broker is told at its start. `Configuration.load` puts it together; `settings` is the list of
/// what can be told.
package struct Configuration: Sendable, Hashable {
  /// The loopback by default: a broker without TLS in front of it is opened to others on purpose only.
  package var listen = ListenAddress(host: "127.0.0.1", port: 8_080)
  package var dataFolder = "data"
  /// nil: an embedded redis-server in the data folder.
  package var redisURL: String?
  /// Event loops, each a thread: by default one for each processor this process may use.
  package var loops = min(ProcessInfo.processInfo.activeProcessorCount, loopsMax)
  /// Into how many a new keyspace is dealt; one that is there must have as many.
  package var partitions = Partitions.standard
  package var secret = SecretSource.dataFolder
  package var tokens = TokenSettings()
  package var embeddedRedis = EmbeddedRedisSettings()
  package var limits = Limits()
  /// Whether the keyspace is to say from now on that its brokers have this one's secret and limits. No setting: left
  /// in a file, it would let the brokers of one keyspace overrule each other at every start.
  package var adoptsSettings = false

  /// Beyond it one Redis is the bottleneck long before, and another broker serves better than more threads.
  package static let loopsMax = 256

  package init() {}
}

/// Where the secret that signs tokens comes from.
package enum SecretSource: Sendable, Hashable {
  /// `secret` in the data folder, made on the first start.
  case dataFolder
  case file(path: String)
  case text(String)
  /// The first signs, the others are still accepted.
  case several([NamedSecret])
}

/// One of several secrets.
package struct NamedSecret: Sendable, Hashable {
  package enum Source: Sendable, Hashable {
    case file(path: String)
    case text(String)
  }

  /// What tokens call it; nil: a hash of it.
  package var kid: UTF8Text?
  package var source: Source
}

/// Which tokens are accepted beside those that the broker's own secrets sign, and what is wanted of all.
package struct TokenSettings: Sendable, Hashable {
  package struct PublicKeyFile: Sendable, Hashable {
    package var kid: UTF8Text?
    package var path: String
  }

  package var publicKeys: [PublicKeyFile] = []
  /// A JSON Web Key Set (RFC 7517) with public keys.
  package var jwksFile: String?
  package var expected = ExpectedClaims()

  package init() {}
}

package struct EmbeddedRedisSettings: Sendable, Hashable {
  /// When Redis has the append-only file written through to the disk (redis.conf, `appendfsync`).
  package enum AppendFsync: String, Sendable, CaseIterable {
    /// Before it answers: nothing acknowledged is lost, at a disk's pace.
    case always
    /// Once a second: a power cut loses what came since the last flush that ended. A crash of the broker loses
    /// nothing; a crash of Redis what it had not handed to the system, up to two seconds while a flush is under
    /// way (config/redis.conf).
    case everysec
  }

  /// A path, or a name looked up in PATH.
  package var server = "redis-server"
  /// Replaces Belfry's own redis.conf. Socket, folder, port and `appendfsync` are still set by the broker.
  package var configFile: String?
  package var appendFsync = AppendFsync.everysec
  /// Beyond it Redis refuses what needs more. 0: it takes all there is, until the kernel ends a process. Nil: half of
  /// the machine's or the container's memory, or what a configuration file of one's own says.
  package var maxMemoryBytes: Int?
  static let maxMemoryBytesMin = 16 << 20

  package init() {}
}
