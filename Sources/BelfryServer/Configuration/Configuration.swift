package import BelfryBytes
package import BelfryHooks
import BelfryLive
package import BelfryModel
package import BelfryOutbound
package import BelfryTransport
import Foundation

/// Everything a broker is told at its start. `Configuration.load` reads it; `Setting.all` is the list of what there is.
package struct Configuration: Sendable, Hashable {
  /// The loopback by default: without TLS, nobody else reaches it unless that is asked for.
  package var listen = ListenAddress(host: "127.0.0.1", port: 8_080)
  package var tls = TLSSettings()
  package var dataFolder = "data"
  /// Nil: an embedded redis-server in the data folder.
  package var redisURL: String?
  package var durability = Durability.local
  /// With ``Durability/replicated``: how many replicas must have a write before it is acknowledged.
  package var replicas = 1
  /// Event loops, each a thread: by default one for each processor this process may use.
  package var loops = min(ProcessInfo.processInfo.activeProcessorCount, loopsMax)
  /// How many partitions a new keyspace gets; an existing one must have as many.
  package var partitions = Partitions.standard
  package var secret = SecretSource.dataFolder
  package var tokens = TokenSettings()
  /// Networks inside which the broker's own requests may go: to callbacks, webhooks and key sets. Pushes have their own.
  package var allowedNetworks: [IPNetwork] = []
  package var callbacks: [CallbackSettings] = []
  /// How long the receiver of a webhook has for its answer.
  package var webhookTimeoutMilliseconds = 15_000
  package var push = PushSettings()
  /// How long a copy or a push waits that has failed once, twice and so on. No setting.
  package var retryDelaysSeconds = RetrySchedule.delaysSeconds
  /// Which of an account's streams may be open at a time.
  package var logins = LoginPolicy.all
  package var browsers = BrowserSettings()
  package var proxies = TrustedProxies()
  /// Sockets of each loop that have yet to say who they are. No setting.
  package var socketsWaitingMax = 1_024
  /// How often a client hears of a quiet stream or socket. No setting.
  package var heartbeatSeconds = Consumer.heartbeatSeconds
  /// After how long a request is answered that it took too long, unless it asked to be held.
  package var answerMaxSeconds = PendingAnswer.answerMaxSeconds
  package var embeddedRedis = EmbeddedRedisSettings()
  package var limits = Limits()
  /// Whether the keyspace takes over this broker's secret and limits as those of all its brokers. An option of `serve`
  /// only: in a file, it would let the brokers of a keyspace overrule each other at every start.
  package var adoptsSettings = false

  package static let replicasMax = 16

  /// Long before this one Redis is the bottleneck, and another broker serves better than more threads.
  package static let loopsMax = 256

  package init() {}
}

/// When a send, a mark or anything else counts as done.
package enum Durability: String, Sendable, Hashable, CaseIterable {
  /// When the Redis that is written to has it. What a replica had not received when it took over is lost.
  case local
  /// When replicas have it as well.
  case replicated
}

/// By what certificate `listen` speaks TLS. Both files are named, or none, and then it speaks plain HTTP.
package struct TLSSettings: Sendable, Hashable {
  package var certificateFile: String?
  package var keyFile: String?
  package var minimum = TLSVersion.v12

  package init() {}
}

/// Where the secret that signs tokens comes from.
package enum SecretSource: Sendable, Hashable {
  /// `secret` in the data folder, made on the first start.
  case dataFolder
  case file(path: String)
  case text(String)
  /// The first signs; tokens signed by the others are accepted.
  case several([NamedSecret])
}

/// One of several secrets.
package struct NamedSecret: Sendable, Hashable {
  package enum Source: Sendable, Hashable {
    case file(path: String)
    case text(String)
  }

  /// How tokens name it (`kid`); nil: by a hash of it.
  package var kid: UTF8Text?
  package var source: Source
}

/// Which tokens are accepted beside those signed by the broker's own secrets, and what all must say.
package struct TokenSettings: Sendable, Hashable {
  package struct PublicKeyFile: Sendable, Hashable {
    package var kid: UTF8Text?
    package var path: String
  }

  package var publicKeys: [PublicKeyFile] = []
  /// A JSON Web Key Set (RFC 7517) with public keys.
  package var jwksFile: String?
  /// Where another one is fetched.
  package var jwksURL: OutboundURL?
  /// Between two fetches that unknown keys ask for. No setting.
  package var jwksPace = KeySetFetches.pace
  package var expected = ExpectedClaims()

  package init() {}
}

package struct EmbeddedRedisSettings: Sendable, Hashable {
  /// When Redis writes the append-only file through to the disk (`appendfsync` of redis.conf).
  package enum AppendFsync: String, Sendable, CaseIterable {
    /// Before it answers: nothing acknowledged is lost, and each write waits for the disk.
    case always
    /// Once a second: a power cut loses what came since the last flush. A crash of Redis loses what it had not handed
    /// to the kernel, up to two seconds while a flush is under way; a crash of the broker loses nothing.
    case everysec
  }

  /// A path, or a name looked up in PATH.
  package var server = "redis-server"
  /// Replaces Belfry's own redis.conf. Socket, folder, port and `appendfsync` are still set by the broker.
  package var configFile: String?
  package var appendFsync = AppendFsync.everysec
  /// The memory in bytes beyond which Redis refuses writes. 0: no limit, until the kernel kills a process. Nil: half of
  /// the machine's or the container's memory, or what one's own `configFile` says.
  package var maxMemoryBytes: Int?
  /// From SIGTERM to SIGKILL. No setting.
  package var stopTimeout = RedisLaunch.stopTimeout
  static let maxMemoryBytesMin = 16 << 20

  package init() {}
}
