/// A body as it arrives: kept up to the limit, or, once refused, read and thrown away for a while so that the
/// client can finish sending and see why.
struct RequestBody {
  enum Reception {
    case more
    /// The limit is crossed; `refuse` is to say with what.
    case tooLarge
    /// It was refused and goes on and on.
    case hopeless(HTTPResponse)
  }

  private(set) var refusal: HTTPResponse?
  private var bytes: [UInt8] = []
  private var drainedBytes = 0
  private let announcedBytes: Int
  private let limitBytes: Int
  private let drainBytes: Int

  /// - Parameter refusal: says that none of it is wanted.
  init(announcedBytes: Int, limitBytes: Int, drainBytes: Int, refusal: HTTPResponse?) {
    self.announcedBytes = announcedBytes
    self.limitBytes = limitBytes
    self.drainBytes = drainBytes
    self.refusal = refusal
  }

  mutating func append(_ more: UnsafeBufferPointer<UInt8>) -> Reception {
    if let refusal {
      drainedBytes += more.count
      return drainedBytes <= drainBytes ? .more : .hopeless(refusal)
    }
    guard more.count <= limitBytes - bytes.count else { return .tooLarge }
    if bytes.isEmpty {
      // What is announced is only believed as far as it has begun to arrive, so that memory costs traffic.
      bytes.reserveCapacity(min(announcedBytes, max(more.count, RequestBody.trustedBytes)))
    }
    unsafe bytes.append(contentsOf: more)
    return .more
  }

  mutating func refuse(_ refusal: HTTPResponse) {
    self.refusal = refusal
    bytes = []
  }

  mutating func take() -> [UInt8] {
    let taken = bytes
    bytes = []
    return taken
  }

  private static let trustedBytes = 64 * 1024
}
