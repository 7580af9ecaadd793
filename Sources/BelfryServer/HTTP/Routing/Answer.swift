import BelfryModel

/// What answers a route, and what it says of that beforehand.
struct Answer: Sendable {
  /// With a reply, or with a stream that goes on.
  enum Way: Sendable {
    case reply(@Sendable (Request, LoopServices) async throws(Refusal) -> Reply)
    case stream(@Sendable (Request, LoopServices) throws(Refusal) -> StreamOpening)
  }

  let way: Way
  /// Every way in which it can go well.
  let outcomes: [Outcome]
  /// How it can go wrong, beside what any route can answer.
  var refusals: [Refusal.Code] = []

  static func reply(
    _ outcomes: Outcome...,
    by answer: @escaping @Sendable (Request, LoopServices) async throws(Refusal) -> Reply
  ) -> Answer {
    Answer(way: .reply(answer), outcomes: outcomes)
  }

  static func stream(
    _ outcome: Outcome,
    by open: @escaping @Sendable (Request, LoopServices) throws(Refusal) -> StreamOpening
  ) -> Answer {
    Answer(way: .stream(open), outcomes: [outcome])
  }
}

// MARK: - Operations

extension Answer {
  /// An operation that leaves nothing to say.
  static func operation<Asked: SpaceOperation>(
    _ operation: @escaping @Sendable (Request) throws(Refusal) -> Asked
  ) -> Answer {
    .operation(.noContent, operation) { _, _ in .noContent }
  }

  /// - Parameter render: what is answered, of the operation and what it gave back.
  static func operation<Asked: SpaceOperation>(
    _ outcome: Outcome, _ operation: @escaping @Sendable (Request) throws(Refusal) -> Asked,
    _ render: @escaping @Sendable (Asked, Asked.Output) -> Reply
  ) -> Answer {
    Answer(
      way: .reply { request, services throws(Refusal) in
        let operation = try operation(request)
        return render(operation, try await services.runner.run(operation).output)
      }, outcomes: [outcome], refusals: [.notFound, .conflict] + Asked.access.refusals)
  }
}

extension Access {
  /// How an operation refuses those who may not.
  fileprivate var refusals: [Refusal.Code] {
    switch self {
    case .anyAccount, .trusted: []
    case .members, .administrators, .owner, .ownRule: [.notMember]
    }
  }
}

// MARK: - Outcomes

/// One way in which a request can go well, as data.
package struct Outcome: Sendable, Hashable {
  package enum Content: Sendable, Hashable {
    case none
    case json(Shape)
    /// Something that is no JSON, by its media type and in words.
    case other(String, String)
  }

  package let status: Int
  package let content: Content
  /// Whether `Location` says where it is now.
  package var isLocated = false

  static let noContent = Outcome(status: 204, content: .none)
  static func ok(_ shape: Shape) -> Outcome { Outcome(status: 200, content: .json(shape)) }
  static func created(_ shape: Shape, isLocated: Bool = true) -> Outcome {
    Outcome(status: 201, content: .json(shape), isLocated: isLocated)
  }
  static func other(_ mediaType: String, _ meaning: String) -> Outcome {
    Outcome(status: 200, content: .other(mediaType, meaning))
  }
}
