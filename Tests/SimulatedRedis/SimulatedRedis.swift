/// A Redis 7.0 in memory, as far as Belfry uses one. It has no clock, no random numbers and no sockets of its own: it is given
/// commands, and the time with each of them. The same commands give the same bytes each time.
///
/// One value of this class is one process of Redis. A restart, or a promoted replica, is another one, which is made from
/// ``effects`` or from a ``Snapshot``.
package final class SimulatedRedis {
  package struct Options: Sendable {
    /// The name of the process, 40 hexadecimal digits.
    package var runID = String(repeating: "0", count: 40)
    package var password: String?
    package var limits = EncodingLimits()
    /// Decides which elements HRANDFIELD and ZRANDMEMBER give.
    package var seed: UInt64 = 1
    package var port = 6_379

    package init() {}
  }

  package let options: Options
  var database: Database
  let functions: FunctionHost
  let scripts: ScriptHost
  var random: RandomNumbers
  /// Microseconds since 1970, of the command that is carried out.
  var now: Int64 = 0

  /// Writes of the command that is carried out, which become one effect.
  var pendingWrites: [Effect.Write] = []
  package internal(set) var log = EffectLog()
  var isReplaying = false
  /// The clients that listen to each channel, in the order in which they came.
  var listeners: [Bytes: [Int]] = [:]
  var pushes: [Push] = []
  var busMessages: [ChannelMessage] = []
  /// The script or function that is carried out.
  var running: ScriptRun?

  // MARK: The state that others set

  /// Writes that need memory are refused above this rough count of bytes.
  package var memoryLimit: Int?
  package var diskFailure: DiskFailure?
  package var isLoading = false
  /// The master of this replica.
  package var master: MasterLink?
  /// The offsets that replicas have confirmed, by their names.
  package var confirmedOffsets: [Int: Int] = [:]
  package internal(set) var cluster: ClusterView?

  package init(_ options: Options = Options()) {
    self.options = options
    database = Database(options.limits)
    random = RandomNumbers(seed: options.seed)
    functions = FunctionHost()
    scripts = ScriptHost()
    functions.machine.onCall = { [unowned self] in call($0) }
    scripts.machine.onCall = { [unowned self] in call($0) }
  }

  var nowMilliseconds: Int64 { now / 1_000 }
  var isReplica: Bool { master != nil }
  /// An estimate, since the memory of a Redis depends on much else.
  package var usedMemory: Int { database.byteCount }
  var isOutOfMemory: Bool { memoryLimit.map { usedMemory > $0 } ?? false }
}

/// A message that a client gets without having asked.
package struct Push: Hashable, Sendable {
  package let client: Int
  package let message: SimulatedReply
}

/// A message in a channel.
package struct ChannelMessage: Hashable, Sendable {
  let channel: Bytes
  let text: Bytes
}

/// The result of a command.
package struct Outcome: Hashable, Sendable {
  /// One for most commands, one per channel for a subscription, and none for a WAIT that goes on.
  package var replies: [SimulatedReply]
  /// Messages for other connections, and for this one behind its replies.
  package var pushes: [Push]
  /// Messages that a cluster's node passes on to the other nodes of its shard, at once. Each takes them with
  /// ``SimulatedRedis/passMessage(_:)``.
  package var messages: [ChannelMessage] = []
  /// The question whose answer is still to come.
  package var wait: ReplicationQuestion?
}

/// A WAIT that is not answered yet.
package struct ReplicationQuestion: Hashable, Sendable {
  package let offset: Int
  package let replicas: Int
  /// 0: for ever.
  package let milliseconds: Int64
}

/// The reason why a Redis cannot save its data.
package enum DiskFailure: Hashable, Sendable {
  case snapshot
  /// With the words of the system.
  case appendOnlyFile(String)
}

package struct MasterLink: Hashable, Sendable {
  package var host: String
  package var port: Int
  package var isUp = true

  package init(host: String, port: Int) { (self.host, self.port) = (host, port) }
}

/// Random numbers that a seed repeats: SplitMix64.
struct RandomNumbers: Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func below(_ bound: Int) -> Int {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
  }
}
