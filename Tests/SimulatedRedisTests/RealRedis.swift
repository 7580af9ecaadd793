import SimulatedRedis
import TestKit
import Testing

/// A connection to a real redis-server, which gives replies in the form of the simulated one.
final class RealRedis {
  private let connection: RawConnection
  private var reader = ReplyReader()

  init(_ server: RedisServer) throws {
    connection = try RawConnection(port: try #require(server.port))
  }

  func ask(_ command: [Bytes]) throws -> SimulatedReply {
    connection.send(SimulatedReply.array(command.map { .bulk($0) }).encoded)
    return try readReply()
  }

  /// Reads one reply, or one message of a channel.
  func readReply() throws -> SimulatedReply {
    while true {
      if let reply = reader.readReply() { return reply }
      guard let bytes = try connection.readSome() else { throw FixtureError("the connection ended") }
      reader.append(bytes)
    }
  }
}
