import BelfryBytes

/// The node that serves each hash slot. A Redis that is no cluster is a map with one node, which serves all
/// of them.
package struct SlotMap: Hashable, Sendable {
  package typealias Address = RedisEndpoint.Address

  /// The nodes that serve slots, in the order in which they were told.
  package private(set) var masters: [Address] = []
  /// The replicas, which may be asked for the map if no master answers.
  private(set) var replicas: [Address] = []
  /// For each slot the index of its master, or ``nobody``.
  private var owners: [UInt16]

  private static let nobody = UInt16.max
  /// A cluster has 1,000 nodes at most, according to Redis's own documentation.
  static let mastersMax = 1_000

  init(only address: Address) {
    masters = [address]
    owners = [UInt16](repeating: 0, count: ClusterSlot.count)
  }

  /// Reads the reply of CLUSTER SLOTS: for each range its first and last slot, its master, and its replicas.
  /// - Parameter asked: the node that answered. A reply without a host means this node.
  package init(_ reply: RedisReply, from asked: Address) throws(RedisError) {
    owners = [UInt16](repeating: Self.nobody, count: ClusterSlot.count)
    for range in try reply.array() {
      let parts = try range.array()
      guard parts.count >= 3 else { throw Self.unreadable("a range without a master") }
      let (first, last) = (Int(try parts[0].integer()), Int(try parts[1].integer()))
      guard first >= 0, first <= last, last < ClusterSlot.count else {
        throw Self.unreadable("slots \(first) to \(last)")
      }
      // A node whose address the others do not know yet has its place in the next map.
      guard let master = try Address(node: parts[2], from: asked) else { continue }
      let index = try index(of: master)
      for slot in first...last { owners[slot] = index }
      for place in 3..<max(parts.count, 3) {
        if let replica = try Address(node: parts[place], from: asked), !replicas.contains(replica) {
          replicas.append(replica)
        }
      }
    }
  }

  /// Nil if no node is known to serve the slot.
  package func owner(of slot: Int) -> Address? {
    let index = owners[slot]
    return index == Self.nobody ? nil : masters[Int(index)]
  }

  /// The node's next slot after a number, with the first after the last; nil if it serves none.
  func slot(of address: Address, after number: Int) -> Int? {
    guard let index = masters.firstIndex(of: address) else { return nil }
    let isServed = { owners[$0] == index }
    return (number + 1..<owners.count).first(where: isServed) ?? (0...number).first(where: isServed)
  }

  /// The nodes that serve any slot.
  package var serving: Set<Address> {
    var counts = [Bool](repeating: false, count: masters.count)
    for owner in owners where owner != Self.nobody { counts[Int(owner)] = true }
    return Set(zip(masters, counts).filter(\.1).map(\.0))
  }

  /// Notes that another node serves one slot, as that slot's last owner has said.
  mutating func move(_ slot: Int, to address: Address) {
    // If there is one node too many, the next map shows it.
    guard let index = try? index(of: address) else { return }
    owners[slot] = index
  }

  private mutating func index(of address: Address) throws(RedisError) -> UInt16 {
    if let index = masters.firstIndex(of: address) { return UInt16(index) }
    guard masters.count < Self.mastersMax else {
      throw Self.unreadable("more than \(Self.mastersMax) masters")
    }
    masters.append(address)
    return UInt16(masters.count - 1)
  }

  private static func unreadable(_ what: String) -> RedisError {
    RedisError(.unexpectedReply, cause: what, place: "CLUSTER SLOTS")
  }
}

extension RedisEndpoint.Address {
  /// The node of a reply of CLUSTER SLOTS: host, port, and more that is not needed.
  fileprivate init?(node reply: RedisReply, from asked: RedisEndpoint.Address) throws(RedisError) {
    let parts = try reply.array()
    guard parts.count >= 2 else { return nil }
    self.init(
      host: try parts[0].ifPresent?.string() ?? "", port: UInt16(clamping: try parts[1].integer()),
      from: asked)
  }

  /// - Parameter asked: the node that named this one. A node that does not know its own host leaves it out.
  init?(host: String, port: UInt16, from asked: RedisEndpoint.Address) {
    switch host {
    case "?": return nil
    case "":
      guard case .tcp(let host, _) = asked else { return nil }
      self = .tcp(host: host, port: port)
    default: self = .tcp(host: host, port: port)
    }
    if port == 0 { return nil }
  }
}
