/// A body as it arrives: kept up to the limit or, once refused, read and thrown away for a while, so that the client
/// can finish sending and see the refusal.
struct RequestBody {
  enum Reception {
    case more
    /// It is longer than the limit. The caller calls `refuse` with the answer.
    case tooLarge
    /// A budget is exhausted. The caller calls `refuse` with the answer.
    case short(SharedBytes.Shortage)
    /// It was refused, and goes on longer than it is worth reading.
    case hopeless(HTTPResponse)
  }

  private(set) var refusal: HTTPResponse?
  private var bytes: [UInt8] = []
  /// For how many bytes there is memory.
  private var roomBytes = 0
  private var drainedBytes = 0
  private let announcedBytes: Int
  private let limitBytes: Int
  private let drainBytes: Int
  private var held: HeldBytes?

  /// - Parameters:
  ///   - held: counts what is kept.
  ///   - refusal: says that none of it is wanted.
  init(announcedBytes: Int, limitBytes: Int, drainBytes: Int, held: HeldBytes?, refusal: HTTPResponse?) {
    self.announcedBytes = announcedBytes
    self.limitBytes = limitBytes
    self.drainBytes = drainBytes
    self.held = held
    self.refusal = refusal
  }

  mutating func append(_ more: UnsafeBufferPointer<UInt8>) -> Reception {
    if let refusal {
      drainedBytes += more.count
      return drainedBytes <= drainBytes ? .more : .hopeless(refusal)
    }
    guard more.count <= limitBytes - bytes.count else { return .tooLarge }
    if let shortage = makeRoom(for: bytes.count + more.count) { return .short(shortage) }
    unsafe bytes.append(contentsOf: more)
    return .more
  }

  /// Memory grows with what has arrived, not with what was announced, so that nobody takes memory without sending.
  private mutating func makeRoom(for needed: Int) -> SharedBytes.Shortage? {
    guard needed > roomBytes else { return nil }
    let expected = roomBytes == 0 ? min(announcedBytes, RequestBody.trustedBytes) : 2 * roomBytes
    let room = max(needed, min(expected, announcedBytes > 0 ? announcedBytes : limitBytes))
    if let shortage = held?.grow(to: room) { return shortage }
    bytes.reserveCapacity(room)
    roomBytes = room
    return nil
  }

  /// Announced and not yet kept; nil where the client has not told the body's length.
  var missingBytes: Int? { announcedBytes > 0 ? announcedBytes - bytes.count : nil }

  mutating func refuse(_ refusal: HTTPResponse) {
    self.refusal = refusal
    _ = take()
  }

  /// - Returns: what was kept, and what counts it.
  mutating func take() -> (bytes: [UInt8], held: HeldBytes?) {
    let taken = (bytes, held)
    (bytes, held, roomBytes) = ([], nil, 0)
    return taken
  }

  private static let trustedBytes = 64 * 1024
}
