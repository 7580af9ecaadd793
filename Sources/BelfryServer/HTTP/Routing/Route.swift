import BelfryModel

/// One thing that can be asked for: how, where, by whom, with what body, and what answers it.
struct Route: Sendable {
  /// Who may ask.
  enum Access: Sendable {
    case everyone
    /// Whoever is on the same machine, others with a token.
    case loopbackOrToken
    /// With any token.
    case token
    /// With an app's or an operator's token.
    case trusted
  }

  /// What body it takes. The sizes leave room for a request at its limits written in the longest way JSON
  /// has (`\u0000` for each byte); the limits of its fields are checked when it is read.
  enum Body: Sendable, Hashable {
    case none
    case json
    case lines

    var sizeMaxBytes: Int {
      switch self {
      case .none: 0
      case .json: 256 * 1_024
      case .lines: 8 * 1_024 * 1_024
      }
    }
  }

  /// What answers it: with a reply, or with a stream that goes on.
  enum Answer: Sendable {
    case reply(@Sendable (Request, LoopServices) async throws(Refusal) -> Reply)
    case stream(@Sendable (Request, LoopServices) throws(Refusal) -> StreamOpening)
  }

  let verb: HTTPVerb
  let path: PathPattern
  let access: Access
  let body: Body
  /// The parameters it knows. Others are refused: a misspelt `after` would quietly begin at the beginning.
  let query: Set<String>
  let answer: Answer

  init(
    _ verb: HTTPVerb, _ path: String, _ access: Access, body: Body = .none, query: Set<String> = [],
    _ answer: Answer
  ) {
    self.verb = verb
    self.path = PathPattern(path)
    self.access = access
    self.body = body
    self.query = query
    self.answer = answer
  }
}
