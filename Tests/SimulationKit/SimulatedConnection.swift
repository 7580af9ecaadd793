import Glibc

/// One connection of a loop's socket to a server of the simulation, which sends and closes by it.
package final class SimulatedConnection {
  private static let pieceBytes = 16 << 10

  /// The machine that opened it; nil if it was opened outside of all machines.
  package let client: SimulatedHost?
  /// The end that the simulation holds of the client's socket.
  let descriptor: Int32
  private let server: any SimulatedServer
  private unowned let network: SimulatedNetwork
  /// When the latest bytes of each direction arrive.
  private var lastToServer = Duration.zero
  private var lastToClient = Duration.zero
  /// Bytes that have arrived at the client, whose socket has no room for them.
  private var waiting: [UInt8] = []
  private var isCut = false
  /// True if the client's socket has no other end any more.
  package private(set) var isOver = false

  init(
    _ descriptor: Int32, from client: SimulatedHost?, to server: any SimulatedServer,
    over network: SimulatedNetwork
  ) {
    self.descriptor = descriptor
    self.client = client
    self.server = server
    self.network = network
  }

  deinit { if !isOver { Glibc.close(descriptor) } }

  // MARK: For the server

  /// Sends bytes to the client.
  package func send(_ bytes: [UInt8]) {
    carryToClient { [self] in
      network.note(bytes)
      waiting += bytes
      pass()
    }
  }

  /// Closes the connection when all that was sent has arrived.
  package func finish() { carryToClient { [self] in end() } }

  /// Breaks the connection at once. Nothing that is on its way arrives.
  package func cut() {
    guard !isCut else { return }
    isCut = true
    end()
    server.close(self)
  }

  // MARK: For the network

  /// Tells the server of the connection.
  func begin() { carryToServer { [self] in server.open(self) } }

  /// The events of the descriptor that matter.
  var interest: Int16 { Int16(waiting.isEmpty ? POLLIN : POLLIN | POLLOUT) }

  func take(_ events: Int16) {
    if events & Int16(POLLOUT) != 0 { pass() }
    if events & ~Int16(POLLOUT) != 0 { collect() }
  }

  /// Takes all that the client has written.
  private func collect() {
    var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
    while !isOver {
      let count = unsafe recv(descriptor, &piece, Self.pieceBytes, 0)
      if count > 0 {
        let bytes = Array(piece[..<count])
        carryToServer { [self] in
          network.note(bytes)
          server.receive(bytes, on: self)
        }
      } else if count == 0 || errno != EAGAIN {
        return hangUp()
      } else {
        return
      }
    }
  }

  /// Gives the client as much as its socket takes.
  private func pass() {
    while !waiting.isEmpty, !isOver {
      let count = unsafe Glibc.send(descriptor, waiting, waiting.count, Int32(MSG_NOSIGNAL))
      if count > 0 {
        waiting.removeFirst(count)
      } else if errno == EAGAIN {
        return
      } else {
        return hangUp()
      }
    }
  }

  /// The client has closed its socket.
  private func hangUp() {
    end()
    carryToServer { [self] in server.close(self) }
  }

  private func end() {
    guard !isOver else { return }
    isOver = true
    waiting = []
    Glibc.close(descriptor)
  }

  private func carryToServer(_ action: @escaping () -> Void) {
    lastToServer = network.arrival(notBefore: lastToServer)
    network.schedule(at: lastToServer) { [self] in if !isCut { action() } }
  }

  private func carryToClient(_ action: @escaping () -> Void) {
    lastToClient = network.arrival(notBefore: lastToClient)
    network.schedule(at: lastToClient) { [self] in if !isOver { action() } }
  }
}
