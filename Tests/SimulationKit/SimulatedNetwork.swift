import Glibc
import SimulatedMachine

/// An address on the simulated network.
package struct SimulatedAddress: Hashable, Sendable {
  let host: UInt32
  let port: UInt16

  /// - Parameter host: as `10.0.0.1`.
  package init(_ host: String, _ port: UInt16) {
    self.init(host: host.split(separator: ".").reduce(0) { $0 << 8 | (UInt32($1) ?? 0) }, port: port)
  }

  init(host: UInt32, port: UInt16) { (self.host, self.port) = (host, port) }
}

/// A server on the simulated network. It takes bytes and sends bytes, and knows neither sockets nor time.
package protocol SimulatedServer: AnyObject {
  /// A client's connection has reached it.
  func open(_ connection: SimulatedConnection)
  func receive(_ bytes: [UInt8], on connection: SimulatedConnection)
  /// The client has closed the connection, or it is cut.
  func close(_ connection: SimulatedConnection)
}

/// Carries bytes between loops, which have real sockets, and servers of the simulation. The other end of each socket is
/// here: bytes are taken from it at once, and arrive after a time that the seed decides. The bytes of one direction keep
/// their order, as those of a TCP connection do.
package final class SimulatedNetwork {
  private unowned let simulation: Simulation
  private var servers: [SimulatedAddress: any SimulatedServer] = [:]
  /// Those that are open, in the order in which they were opened.
  package private(set) var connections: [SimulatedConnection] = []
  /// The microseconds that bytes are on their way.
  package var latency = 20...2_000

  init(of simulation: Simulation) { self.simulation = simulation }

  /// Has the thread's connections made here, until ``detach()``.
  func attach() {
    // SAFETY: the simulation detaches the network before either of them is released.
    unsafe machine_set_connector(makeConnection, Unmanaged.passUnretained(self).toOpaque())
  }

  func detach() { machine_set_connector(nil, nil) }

  /// Lets the server answer at the address. Connections to an address without a server are refused.
  package func listen(_ server: any SimulatedServer, at address: SimulatedAddress) {
    servers[address] = server
  }

  /// Refuses new connections to the address. Those that are open go on.
  package func stopListening(at address: SimulatedAddress) { servers[address] = nil }

  /// Cuts all connections that are open.
  package func cutAll() {
    for connection in connections { connection.cut() }
  }

  /// - Returns: the client's end, or a negative error number.
  fileprivate func connect(to address: SimulatedAddress) -> Int32 {
    guard let server = servers[address] else { return -ECONNREFUSED }
    var ends: [Int32] = [0, 0]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return -errno }
    let connection = SimulatedConnection(ends[1], from: simulation.presentHost, to: server, over: self)
    connections.append(connection)
    connection.begin()
    return ends[0]
  }

  /// Takes the bytes that clients have written since it was called last, and gives them those for which their sockets had
  /// no room.
  func collect() {
    connections.removeAll(where: \.isOver)
    if connections.isEmpty { return }
    var questions = connections.map { pollfd(fd: $0.descriptor, events: $0.interest, revents: 0) }
    guard unsafe poll(&questions, nfds_t(questions.count), 0) > 0 else { return }
    for (question, connection) in zip(questions, Array(connections)) where question.revents != 0 {
      connection.take(question.revents)
    }
  }

  /// The time at which something arrives that leaves now.
  /// - Parameter last: when the latest arrives that left before it in the same direction.
  func arrival(notBefore last: Duration) -> Duration {
    let microseconds = latency.lowerBound + simulation.draw(below: latency.count)
    return max(last, simulation.elapsed + .microseconds(microseconds))
  }

  func schedule(at time: Duration, _ action: @escaping () -> Void) {
    simulation.schedule(after: time - simulation.elapsed, action)
  }

  func note(_ bytes: [UInt8]) { simulation.note(bytes) }
}

// SAFETY: the context is the network that `attach()` gave.
private func makeConnection(
  _ context: UnsafeMutableRawPointer?, _ host: UInt32, _ port: UInt16
) -> Int32 {
  guard let context = unsafe context else { return -ECONNREFUSED }
  let network = unsafe Unmanaged<SimulatedNetwork>.fromOpaque(context).takeUnretainedValue()
  return network.connect(to: SimulatedAddress(host: host, port: port))
}
