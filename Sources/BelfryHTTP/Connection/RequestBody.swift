/// A body as it arrives, kept up to the limit and as far as the budget goes.
struct RequestBody {
  private var bytes: [UInt8] = []
  /// The number of bytes that there is memory for.
  private var roomBytes = 0
  private let announcedBytes: Int
  private let limitBytes: Int
  private var held: HeldBytes?

  /// - Parameter held: counts what is kept.
  init(announcedBytes: Int, limitBytes: Int, held: HeldBytes?) {
    self.announcedBytes = announcedBytes
    self.limitBytes = limitBytes
    self.held = held
  }

  /// - Returns: the reason for which it is refused; nil if it is taken.
  mutating func append(_ more: ArraySlice<UInt8>) -> HTTPRefusal? {
    guard more.count <= limitBytes - bytes.count else { return .bodyTooLarge(limitBytes: limitBytes) }
    if let shortage = makeRoom(for: bytes.count + more.count) { return HTTPRefusal(shortage) }
    bytes.append(contentsOf: more)
    return nil
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

  /// The announced bytes that are not kept yet; nil if the client has not announced the length of the body.
  var missingBytes: Int? { announcedBytes > 0 ? announcedBytes - bytes.count : nil }

  /// - Returns: the bytes that were kept, and the object that counts them.
  mutating func take() -> (bytes: [UInt8], held: HeldBytes?) {
    let taken = (bytes, held)
    (bytes, held, roomBytes) = ([], nil, 0)
    return taken
  }

  private static let trustedBytes = 64 * 1024
}
