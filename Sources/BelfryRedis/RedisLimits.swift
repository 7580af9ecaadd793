/// What a connection may use of time and memory. Every value is a default that its user may change.
package struct RedisLimits: Sendable, Hashable {
  /// From `send` to the reply. Redis answers in under a millisecond, but with `appendfsync everysec` a write may wait up
  /// to two seconds for a slow disk. With less than that, a broker would drop a sound connection and refuse what Redis
  /// then carries out.
  package var commandTimeout: Duration = .milliseconds(2_500)
  /// From the first packet to an open socket, the look-up of the host's name included.
  package var connectTimeout: Duration = .seconds(1)
  /// For each round of set-up on a new connection. Loading a function library takes some milliseconds.
  package var setUpTimeout: Duration = .seconds(2)
  /// How long a command may wait for the first try to connect, at the start and after a loss. Bridges a restart of
  /// Redis; once a try has failed, commands fail at once.
  package var waitForConnection: Duration = .milliseconds(250)

  /// Commands sent or waiting, not yet answered: at 50,000 a second, the work of a third of a second.
  package var unansweredCommandsMax = 16_384
  /// The bytes of these commands, so also what is buffered while Redis does not read.
  package var unansweredBytesMax = 64 << 20
  /// The memory of one reply, its elements counted. Beyond it the connection is given up.
  package var replyBytesMax = 256 << 20
  /// Channels one subscriber may hold.
  package var channelsMax = 100_000

  /// The pause before the first try to connect again; each further one doubles it.
  package var reconnectDelayMin: Duration = .milliseconds(50)
  /// The longest pause: Redis is found again within about a second of its return.
  package var reconnectDelayMax: Duration = .seconds(1)
  /// How often a subscriber sends PING. If no answer has come by the next one, it gives the connection up, so silence
  /// is noticed within twice this time.
  package var heartbeatInterval: Duration = .seconds(3)

  package init() {}
}
