/// Takes in the requests of a connection: decides how much is read, how much of a body is kept, and when a
/// request is refused. It is a pure state machine, and ``HTTPConnection`` carries out its actions.
///
/// A refusal before the end of the body can be sent at once or after the body. If it is sent at once, the
/// client need not send the rest, but the connection ends: the next bytes could be body or request. A client
/// whose connection is cut while it sends seldom sees the answer. So bytes that are on their way are read
/// first. If the client has not announced the length of a body, the limit for this is the same as for
/// announced lengths.
struct RequestIntake {
  enum Action {
    /// More has to arrive.
    case wait
    /// A head is there. The caller accepts or refuses the request by `accept` or `refuse`.
    case route(RequestHead)
    /// The request is whole.
    case handle(body: [UInt8], held: HeldBytes?)
    /// The answer for the request. The last answer of a connection ends it; bytes that still arrive are
    /// thrown away.
    case answer(IntakeRefusal, isLast: Bool)
  }

  private var reader: RequestReader
  private var body: RequestBody?
  private var bodyMaxBytes = 0
  /// The answer to give when the body has been read.
  private var refusal: IntakeRefusal?
  /// The bytes that have arrived of a body without an announced length; nil while there is no such body.
  private var chunkedBytes: Int?

  init(_ reader: RequestReader) { self.reader = reader }

  /// True if anything of a request has arrived.
  var hasBegun: Bool { reader.hasBegun }

  /// The fields that were read of a request that was refused before its head was accepted.
  var headersOfRefused: HTTPHeaders? { reader.headersOfRefused }

  /// True if the next bytes belong to a body.
  var isInBody: Bool { body != nil }

  /// - Parameter input: the bytes that have arrived and were not consumed.
  mutating func next(_ input: ArraySlice<UInt8>) -> (action: Action, consumed: Int) {
    var rest = input
    while true {
      let (step, consumed) = reader.next(rest)
      if case .body(let range) = step, let action = take(input[range]) {
        return (action, rest.startIndex - input.startIndex + consumed)
      }
      rest.removeFirst(consumed)
      if let action = action(of: step) { return (action, rest.startIndex - input.startIndex) }
    }
  }

  private mutating func action(of step: RequestReader.Step) -> Action? {
    switch step {
    case .body: nil
    case .incomplete: .wait
    case .head(let head): route(head)
    case .end: finish()
    case .tooLong: .answer(.byProtocol(.bodyTooLarge(limitBytes: bodyMaxBytes)), isLast: true)
    case .refused(let refusal): .answer(.byProtocol(refusal), isLast: true)
    }
  }

  private mutating func route(_ head: RequestHead) -> Action {
    chunkedBytes = head.contentLength == nil ? 0 : nil
    return .route(head)
  }

  private mutating func finish() -> Action {
    let taken = body?.take() ?? ([], nil)
    body = nil
    chunkedBytes = nil
    defer { refusal = nil }
    return refusal.map { .answer($0, isLast: false) } ?? .handle(body: taken.0, held: taken.1)
  }

  /// - Parameter held: counts the body; nil if the body is too small to be counted.
  mutating func accept(_ head: RequestHead, bodyMaxBytes: Int, held: HeldBytes?) {
    self.bodyMaxBytes = bodyMaxBytes
    body = RequestBody(announcedBytes: head.contentLength ?? 0, limitBytes: bodyMaxBytes, held: held)
  }

  /// - Returns: the answer, if it does not wait for the body.
  mutating func refuse(_ head: RequestHead, _ refusal: IntakeRefusal) -> Action? {
    // A client that waits for permission before it sends the body will not send the body now.
    if (head.contentLength ?? 0) > HTTPLimits.awaitedBytes || head.isContinueExpected {
      return .answer(refusal, isLast: true)
    }
    self.refusal = refusal
    return nil
  }

  /// - Returns: the answer, if the body is refused and the rest of it is not waited for.
  private mutating func take(_ bytes: ArraySlice<UInt8>) -> Action? {
    if let arrived = chunkedBytes { chunkedBytes = arrived + bytes.count }
    if refusal == nil {
      guard let flaw = body?.append(bytes) else { return nil }
      refusal = .byProtocol(flaw)
    }
    let missing = body?.missingBytes ?? 0
    body = nil
    guard let refusal, missing > HTTPLimits.awaitedBytes || (chunkedBytes ?? 0) > HTTPLimits.awaitedBytes
    else { return nil }
    return .answer(refusal, isLast: true)
  }
}

/// The layer that refuses a request before it is handled.
enum IntakeRefusal {
  case byProtocol(HTTPRefusal)
  case byHandler(HTTPResponse)
}
