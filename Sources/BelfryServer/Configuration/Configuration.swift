package import BelfryBytes
package import BelfryHooks
import BelfryLive
package import BelfryModel
package import BelfryOutbound
package import BelfryTransport
import Foundation

/// All settings of a broker. `Configuration.load` reads them; `Setting.all` lists them.
package struct Configuration: Sendable, Hashable {
  /// The loopback by default. Without TLS, no other machine reaches the broker unless the operator asks for
  /// it.
  package var listen = ListenAddress(host: "127.0.0.1", port: 8_080)
  package var tls = TLSSettings()
  package var dataFolder = "data"
  /// Nil: an embedded redis-server in the data folder.
  package var redisURL: String?
  package var durability = Durability.local
  /// With ``Durability/replicated``: the number of replicas that must have a write before it is acknowledged.
  package var replicas = 1
  /// The number of event loops, each a thread. The default is one for each processor that this process may use.
  package var loops = min(ProcessInfo.processInfo.activeProcessorCount, loopsMax)
  /// The number of partitions that a new keyspace gets. An existing keyspace must have this number.
  package var partitions = Partitions.standard
  package var secret = SecretSource.dataFolder
  package var tokens = TokenSettings()
  /// Networks that the broker may send its own requests to: callbacks, webhooks and key sets. Pushes have
  /// their own list.
  package var allowedNetworks: [IPNetwork] = []
  package var callbacks: [CallbackSettings] = []
  /// The time that the receiver of a webhook has for its answer.
  package var webhookTimeoutMilliseconds = 15_000
  package var push = PushSettings()
  /// The delays before a failed copy or push is tried again: after the first failure, the second and so on.
  /// No setting.
  package var retryDelaysSeconds = RetrySchedule.delaysSeconds
  /// The streams that an account may have open at the same time.
  package var logins = LoginPolicy.all
  package var browsers = BrowserSettings()
  package var proxies = TrustedProxies()
  /// The most sockets of each loop that have not yet sent a token. No setting.
  package var socketsWaitingMax = 1_024
  /// The interval at which a client of a quiet stream or socket receives a heartbeat. No setting.
  package var heartbeatSeconds = Consumer.heartbeatSeconds
  /// The time after which a request is answered that it took too long, unless it asked to be held.
  package var answerMaxSeconds = PendingAnswer.answerMaxSeconds
  package var embeddedRedis = EmbeddedRedisSettings()
  package var limits = Limits()
  /// True if the keyspace takes over this broker's secret and limits as those of all its brokers. This is an
  /// option of `serve` only: in a file, it would let the brokers of a keyspace overrule each other at every
  /// start.
  package var adoptsSettings = false

  package static let replicasMax = 16

  /// Redis is the bottleneck long before this number, and another broker helps more than more threads.
  package static let loopsMax = 256

  package init() {}
}

/// The condition under which a send, a mark or any other write counts as done.
package enum Durability: String, Sendable, Hashable, CaseIterable {
  /// Done when the Redis that receives the write has it. If a replica takes over, the writes that it had not
  /// received are lost.
  case local
  /// Done when replicas have it as well.
  case replicated
}

/// The certificate of `listen`, for TLS. Either both files are named, or none; without them the broker speaks
/// plain HTTP.
package struct TLSSettings: Sendable, Hashable {
  package var certificateFile: String?
  package var keyFile: String?
  package var minimum = TLSVersion.v12

  package init() {}
}

/// The source of the secret that signs tokens.
package enum SecretSource: Sendable, Hashable {
  /// The file `secret` in the data folder, made on the first start.
  case dataFolder
  case file(path: String)
  case text(String)
  /// The first secret signs; tokens signed by the others are accepted.
  case several([NamedSecret])
}

/// One of several secrets.
package struct NamedSecret: Sendable, Hashable {
  package enum Source: Sendable, Hashable {
    case file(path: String)
    case text(String)
  }

  /// The name of the secret in tokens (`kid`); nil: a hash of the secret.
  package var kid: UTF8Text?
  package var source: Source
}

/// The tokens that are accepted in addition to those signed by the broker's own secrets, and the claims that
/// all tokens must have.
package struct TokenSettings: Sendable, Hashable {
  package struct PublicKeyFile: Sendable, Hashable {
    package var kid: UTF8Text?
    package var path: String
  }

  package var publicKeys: [PublicKeyFile] = []
  /// A JSON Web Key Set (RFC 7517) with public keys.
  package var jwksFile: String?
  /// The URL of a second key set, which the broker fetches.
  package var jwksURL: OutboundURL?
  /// The pace of fetches that unknown keys cause. No setting.
  package var jwksPace = KeySetFetches.pace
  package var expected = ExpectedClaims()

  package init() {}
}

package struct EmbeddedRedisSettings: Sendable, Hashable {
  /// When Redis flushes the append-only file to the disk (`appendfsync` of redis.conf).
  package enum AppendFsync: String, Sendable, CaseIterable {
    /// Before Redis answers: nothing acknowledged is lost, and each write waits for the disk.
    case always
    /// Once a second. A power cut loses the writes since the last flush. A crash of Redis loses what it had
    /// not handed to the kernel, up to two seconds while a flush is under way. A crash of the broker loses
    /// nothing.
    case everysec
  }

  /// A path, or a name looked up in PATH.
  package var server = "redis-server"
  /// Replaces Belfry's own redis.conf. Socket, folder, port and `appendfsync` are still set by the broker.
  package var configFile: String?
  package var appendFsync = AppendFsync.everysec
  /// The memory in bytes beyond which Redis refuses writes. 0: no limit, until the kernel kills a process.
  /// Nil: half of the memory of the machine or the container, or the value in the operator's own
  /// `configFile`.
  package var maxMemoryBytes: Int?
  /// The time between SIGTERM and SIGKILL. No setting.
  package var stopTimeout = RedisLaunch.stopTimeout
  static let maxMemoryBytesMin = 16 << 20

  package init() {}
}
