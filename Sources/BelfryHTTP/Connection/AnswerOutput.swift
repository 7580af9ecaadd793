import BelfryTransport

/// An answer on its way to the client: the written and the unwritten part.
struct AnswerOutput {
  enum Result {
    case written, wait, lost
  }

  /// The head, and behind it a short body.
  private var beginning: [UInt8] = []
  private var body: [UInt8] = []
  private var writtenBytes = 0
  /// The bytes that the kernel had room for at once, even if the client takes nothing.
  private var bufferedBytes: Int?
  /// The number of bytes that the client has taken since the first wait for it.
  var takenBytes: Int { writtenBytes - (bufferedBytes ?? 0) }
  /// Counts the answer while it is here.
  private var held: HeldBytes?

  /// An output without an answer.
  init() {}

  init(_ response: HTTPResponse, isLast: Bool, hasBody: Bool, date: [UInt8], _ held: HeldBytes?) {
    self.held = held
    beginning = ResponseHead.render(
      status: response.status, headers: response.headers,
      framing: response.hasLength ? .length(response.body.count) : .untold, isLast: isLast, date: date)
    guard hasBody else { return }
    // One write instead of two, and one packet.
    if response.body.count <= Self.joinedMaxBytes { beginning += response.body } else { body = response.body }
  }

  private static let joinedMaxBytes = 16 * 1024

  /// Writes as much as the transport takes.
  mutating func write(to transport: any ByteTransport) -> Result {
    let result = writeAll(to: transport)
    bufferedBytes = bufferedBytes ?? writtenBytes
    return result
  }

  private mutating func writeAll(to transport: any ByteTransport) -> Result {
    while writtenBytes < beginning.count {
      switch Self.write(beginning[writtenBytes...], to: transport) {
      case .bytes(let count): writtenBytes += count
      case .wait: return .wait
      case .end, .lost: return .lost
      }
    }
    while writtenBytes - beginning.count < body.count {
      switch Self.write(body[(writtenBytes - beginning.count)...], to: transport) {
      case .bytes(let count): writtenBytes += count
      case .wait: return .wait
      case .end, .lost: return .lost
      }
    }
    return .written
  }

  private static func write(_ bytes: ArraySlice<UInt8>, to transport: any ByteTransport) -> TransportResult {
    // SAFETY: the transport has taken what it takes when it returns.
    unsafe bytes.withUnsafeBytes { unsafe transport.write($0) }
  }
}
