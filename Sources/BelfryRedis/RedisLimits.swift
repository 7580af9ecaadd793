/// How much time and memory a connection may use. Every value is a default that the connection's user may change.
package struct RedisLimits: Sendable, Hashable {
  /// From `send` to the reply. Redis answers in less than a millisecond, but with `appendfsync everysec` a write may wait
  /// up to two seconds for a slow disk. With a shorter timeout a broker would drop a sound connection and refuse what Redis
  /// then carries out.
  package var commandTimeout: Duration = .milliseconds(2_500)
  /// From the look-up of the host's name to an open socket.
  package var connectTimeout: Duration = .seconds(1)
  /// For each round of set-up on a new connection. Loading a function library takes some milliseconds.
  package var setUpTimeout: Duration = .seconds(2)
  /// How long a command may wait for the first try to connect, at the start and after a loss. So a restart of Redis need
  /// not fail a command. Once a try has failed, commands fail at once.
  package var waitForConnection: Duration = .milliseconds(250)

  /// How many commands may be sent or waiting without a reply. At 50,000 a second that is the work of a third of a second.
  package var unansweredCommandsMax = 16_384
  /// How many bytes these commands may have together. That also bounds what is buffered while Redis does not read.
  package var unansweredBytesMax = 64 << 20
  /// How much memory one reply may take, its elements included. Beyond that the connection is given up.
  package var replyBytesMax = 256 << 20
  /// How many channels one subscriber may hold.
  package var channelsMax = 100_000

  /// The pause before the first try to connect again. Each failed try doubles the pause.
  package var reconnectDelayMin: Duration = .milliseconds(50)
  /// The longest pause. With it Redis is found again within about a second of its return.
  package var reconnectDelayMax: Duration = .seconds(1)
  /// How often a subscriber sends PING. A subscriber gives its connection up if one PING has no answer when the next is due,
  /// so silence is noticed within twice this time.
  package var heartbeatInterval: Duration = .seconds(3)

  package init() {}
}
