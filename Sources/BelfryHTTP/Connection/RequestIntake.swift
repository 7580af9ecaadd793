/// Takes a connection's requests in: what is read of each, what is kept of its body, and when it is refused. A pure state
/// machine; ``HTTPConnection`` does what it says.
///
/// A refusal that comes before or within a body can be told at once or after the body. A client that is told at once
/// saves itself the rest, but the connection ends with it: whatever the client sends next might be body or request. A
/// client that is cut while it sends seldom sees the answer, so what is on its way is read first. Of a body whose length the
/// client has not told, as much is waited for as of one whose length is known.
struct RequestIntake {
  enum Action {
    /// More has to arrive.
    case wait
    /// A head is there. The caller says by `accept` or `refuse` what becomes of the request.
    case route(RequestHead)
    /// The request is whole.
    case handle(body: [UInt8], held: HeldBytes?)
    /// The request is answered so. The last answer of a connection ends it; what still arrives is thrown away.
    case answer(IntakeRefusal, isLast: Bool)
  }

  private var reader: RequestReader
  private var body: RequestBody?
  private var bodyMaxBytes = 0
  /// What is answered when the body has been read.
  private var refusal: IntakeRefusal?
  /// How much of a body has arrived whose length the client has not told; nil while there is none.
  private var chunkedBytes: Int?

  init(_ reader: RequestReader) { self.reader = reader }

  /// Whether anything of a request has arrived.
  var hasBegun: Bool { reader.hasBegun }

  /// Of a request that was refused before its head was accepted, the fields that were read.
  var headersOfRefused: HTTPHeaders? { reader.headersOfRefused }

  /// Whether what arrives next belongs to a body.
  var isInBody: Bool { body != nil }

  /// - Parameter input: what has arrived and was not consumed.
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

  /// - Parameter held: counts the body; nil where it is too small to be counted.
  mutating func accept(_ head: RequestHead, bodyMaxBytes: Int, held: HeldBytes?) {
    self.bodyMaxBytes = bodyMaxBytes
    body = RequestBody(announcedBytes: head.contentLength ?? 0, limitBytes: bodyMaxBytes, held: held)
  }

  /// - Returns: the answer, if it does not wait for the body.
  mutating func refuse(_ head: RequestHead, _ refusal: IntakeRefusal) -> Action? {
    // Nobody who waits for a word before the body will send it now.
    if (head.contentLength ?? 0) > HTTPLimits.awaitedBytes || head.isContinueExpected {
      return .answer(refusal, isLast: true)
    }
    self.refusal = refusal
    return nil
  }

  /// - Returns: the answer, where the body is refused and the rest of it is not waited for.
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

/// Who refuses a request before it is handled.
enum IntakeRefusal {
  case byProtocol(HTTPRefusal)
  case byHandler(HTTPResponse)
}
