/// What a connection may use of time and memory. Every value is a default that its user may change.
package struct RedisLimits: Sendable, Hashable {
  /// From `send` to the reply. Redis answers in under a millisecond, but with `appendfsync everysec` it lets a write
  /// wait for a slow disk, for up to two seconds: given up before that, a broker would drop a connection that is
  /// well, and refuse what Redis then does all the same. Whoever waited longer is better told to come back.
  package var commandTimeout: Duration = .milliseconds(2_500)
  /// From the first packet to an open socket, the look-up of the host's name included.
  package var connectTimeout: Duration = .seconds(1)
  /// For each round of set-up on a new connection. Loading a function library takes some milliseconds.
  package var setUpTimeout: Duration = .seconds(2)
  /// How long a command may wait for a connection that is being made for the first time, or again for the
  /// first time after it broke. It bridges a restart of Redis; afterwards commands fail at once.
  package var waitForConnection: Duration = .milliseconds(250)

  /// Commands sent or waiting, not yet answered. At 50,000 a second it is a third of a second's work, and
  /// more than one deadline's worth could not be answered in time anyway.
  package var unansweredCommandsMax = 16_384
  /// Their bytes. It also bounds what is buffered while Redis does not read.
  package var unansweredBytesMax = 64 << 20
  /// One reply, its elements counted in. Beyond it the connection is given up instead of the memory.
  package var replyBytesMax = 256 << 20
  /// Channels one subscriber may hold.
  package var channelsMax = 100_000

  /// The pause before the first try to connect again; each further one doubles it.
  package var reconnectDelayMin: Duration = .milliseconds(50)
  /// The longest pause: Redis is found again within about a second of its return.
  package var reconnectDelayMax: Duration = .seconds(1)
  /// A subscriber asks PING this often, and gives the connection up when the answer has not come by the
  /// time it would ask again: silence is noticed within twice this.
  package var heartbeatInterval: Duration = .seconds(3)

  package init() {}
}
