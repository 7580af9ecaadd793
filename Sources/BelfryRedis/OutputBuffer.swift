import BelfryTransport

/// The commands that wait for the socket of a connection, one behind the other in the form that Redis reads. A caller
/// writes commands straight into the buffer, so a command takes no memory of its own on its way.
package final class OutputBuffer {
  /// Commands that were written together and stand last in the buffer.
  struct Batch {
    /// The name of the first command, for errors.
    var name = "nothing"
    var commandCount = 0
    var byteCount = 0
  }

  /// Memory up to this size is kept after it has been sent.
  private static let keptBytesMax = 256 << 10

  private var bytes: [UInt8] = []
  private var sentCount = 0
  /// The batch that is being written.
  private var batch = Batch()

  var isEmpty: Bool { bytes.isEmpty }

  init() {}
}

// MARK: - Writing

extension OutputBuffer {
  /// Writes a command that exists as a value.
  package func append(_ command: RedisCommand) {
    count(command.name)
    command.encode(into: &bytes)
  }

  /// Writes a command argument by argument.
  /// - Parameter appendArguments: appends the arguments behind the name. It must not use the buffer or its connection.
  package func append(_ name: String, _ appendArguments: (inout RedisCommand) -> Void) {
    count(name)
    // The command owns the bytes meanwhile. With two owners the array would be copied.
    let earlier = bytes
    bytes = []
    var command = RedisCommand(name, behind: earlier)
    appendArguments(&command)
    bytes = command.takeEncoded()
  }

  /// Writes commands that were encoded before.
  func append(encoded commands: [UInt8]) { bytes += commands }

  private func count(_ name: String) {
    if batch.commandCount == 0 { batch.name = name }
    batch.commandCount += 1
  }

  /// Lets a caller write commands that belong together.
  func batch(_ write: (OutputBuffer) -> Void) -> Batch {
    let start = bytes.count
    batch = Batch()
    write(self)
    batch.byteCount = bytes.count - start
    return batch
  }

  /// Takes the batch out of the buffer that was written last: it must not leave now.
  /// - Returns: its commands, encoded.
  func takeBack(_ batch: Batch) -> [UInt8] {
    let commands = Array(bytes.suffix(batch.byteCount))
    bytes.removeLast(commands.count)
    return commands
  }
}

// MARK: - Sending

extension OutputBuffer {
  /// Sends as much as the connection takes without waiting.
  /// - Returns: false if the connection is lost.
  func send(by transport: any ByteTransport) -> Bool {
    while sentCount < bytes.count {
      // SAFETY: the transport has taken what it takes when it returns.
      switch unsafe bytes[sentCount...].withUnsafeBytes({ unsafe transport.write($0) }) {
      case .bytes(let count): sentCount += count
      case .wait:
        dropSent()
        return true
      case .end, .lost: return false
      }
    }
    clear()
    return true
  }

  /// Drops everything, sent or not.
  func clear() {
    bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptBytesMax)
    sentCount = 0
  }

  /// Moves the unsent bytes to the front once more than half of the buffer has been sent. So each byte moves once on
  /// average, and a buffer that never becomes empty does not grow without end.
  private func dropSent() {
    guard sentCount > bytes.count / 2 else { return }
    bytes.removeFirst(sentCount)
    sentCount = 0
  }
}
