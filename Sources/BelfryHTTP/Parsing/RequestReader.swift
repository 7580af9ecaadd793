import BelfryBytes

/// Reads requests, one after the other, from the bytes of a connection. It is a pure state machine: it
/// receives the bytes that have arrived, and returns the next step.
struct RequestReader {
  enum Step {
    /// There is nothing more to do with what has arrived.
    case incomplete
    /// A head is complete. Its body follows.
    case head(RequestHead)
    /// These bytes belong to the body.
    case body(Range<Int>)
    /// The request is complete, and the next one may follow.
    case end
    /// The body has a chunk that is longer than any body may be.
    case tooLong
    /// This is not a request, and nobody can know its end. So nothing after it is read.
    case refused(HTTPRefusal)
  }

  private enum Phase {
    case head(HeadParser)
    case length(left: Int)
    case chunks(ChunkDecoder)
    case refused(HTTPRefusal)
  }

  private let limits: HeadLimits
  private let namesOnce: [String]
  private var phase: Phase
  /// The fields that were read of a request that was refused. They may decide how the refusal is answered.
  private(set) var headersOfRefused: HTTPHeaders?

  /// - Parameter namesOnce: fields that may occur only once, in addition to those that give the end of the
  ///   request.
  init(_ limits: HeadLimits, namesOnce: [String]) {
    (self.limits, self.namesOnce) = (limits, namesOnce)
    phase = .head(HeadParser(limits))
  }

  /// True if a request has begun to arrive.
  var hasBegun: Bool {
    if case .head(let parser) = phase { parser.hasBegun } else { true }
  }

  /// - Parameter input: the bytes that have arrived and were not consumed.
  /// - Returns: the next step, and the number of bytes that it consumes.
  mutating func next(_ input: ArraySlice<UInt8>) -> (step: Step, consumed: Int) {
    switch phase {
    case .head(var parser):
      // The parser is taken out while it is changed. Otherwise its fields would be copied.
      phase = .length(left: 0)
      let progress = parser.advance(over: input.span)
      phase = .head(parser)
      switch progress {
      case .incomplete: return (.incomplete, 0)
      case .refused(let refusal):
        headersOfRefused = HTTPHeaders(Array(input.prefix(limits.bytesMax)), parser.fields)
        return refuse(refusal)
      case .complete(let bytes): return complete(parser, Array(input.prefix(bytes)))
      }
    case .length(let left):
      if left == 0 { return end(after: 0) }
      let count = min(left, input.count)
      if count == 0 { return (.incomplete, 0) }
      phase = .length(left: left - count)
      return (.body(input.startIndex..<(input.startIndex + count)), count)
    case .chunks(let decoder): return nextOfChunks(input, decoder)
    case .refused(let refusal): return (.refused(refusal), 0)
    }
  }

  private mutating func nextOfChunks(_ input: ArraySlice<UInt8>, _ decoder: ChunkDecoder) -> (Step, Int) {
    var (decoder, rest) = (decoder, input)
    while true {
      let step = decoder.next(rest)
      phase = .chunks(decoder)
      let consumed = rest.startIndex - input.startIndex
      switch step {
      case .framing(let bytes): rest.removeFirst(bytes)
      case .body(let count):
        return (.body(rest.startIndex..<(rest.startIndex + count)), consumed + count)
      case .incomplete: return (.incomplete, consumed)
      case .end(let bytes): return end(after: consumed + bytes)
      case .tooLong: return (.tooLong, consumed)
      case .refused(let refusal): return refuse(refusal)
      }
    }
  }

  private mutating func complete(_ parser: HeadParser, _ bytes: [UInt8]) -> (Step, Int) {
    guard let first = parser.first else { return (.incomplete, 0) }
    let head = RequestHead(first, HTTPHeaders(bytes, parser.fields))
    if let refusal = RequestFraming.refusal(
      of: head.headers, isHTTP10: first.isHTTP10, namesOnce: namesOnce)
    {
      headersOfRefused = head.headers
      return refuse(refusal)
    }
    phase = head.contentLength.map { .length(left: $0) } ?? .chunks(ChunkDecoder())
    return (.head(head), bytes.count)
  }

  private mutating func end(after bytes: Int) -> (Step, Int) {
    phase = .head(HeadParser(limits))
    return (.end, bytes)
  }

  private mutating func refuse(_ refusal: HTTPRefusal) -> (Step, Int) {
    phase = .refused(refusal)
    return (.refused(refusal), 0)
  }
}

/// A head as it was read. It is known to have only one meaning.
struct RequestHead {
  let method: UTF8Text
  let target: UTF8Text
  let isHTTP10: Bool
  let headers: HTTPHeaders
  /// The announced length of the body; nil if it is chunked, 0 if there is none.
  let contentLength: Int?

  init(_ first: FirstLine, _ headers: HTTPHeaders) {
    (method, target, isHTTP10) = (first.method, first.target, first.isHTTP10)
    self.headers = headers
    contentLength = RequestFraming.contentLength(of: headers)
  }

  /// True if the connection ends after this request. HTTP/1.0 has ways to keep it open, which few clients
  /// use.
  var isLast: Bool { isHTTP10 || headers.lists("Connection", "close") }

  /// True if the client waits for permission before it sends the body.
  var isContinueExpected: Bool { !isHTTP10 && headers.lists("Expect", "100-continue") }
}
