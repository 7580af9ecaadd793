/// One successful answer to a request, as data.
package struct Outcome: Sendable, Hashable {
  package enum Content: Sendable, Hashable {
    case none
    case json(Shape)
    /// Something other than JSON: its media type, and a description in words.
    case other(String, String)
    /// A stream of Server-Sent Events.
    case events([EventShape])
    /// A WebSocket with these frames.
    case socket([EventShape])
  }

  package let status: Int
  package let content: Content
  /// True if `Location` names the place of the new thing.
  package var isLocated = false
  /// True if `ETag` names this version of the answer.
  package var isTagged = false

  package static let noContent = Outcome(status: 204, content: .none)
  package static func ok(_ shape: Shape) -> Outcome { Outcome(status: 200, content: .json(shape)) }
  package static func created(_ shape: Shape, isLocated: Bool = true) -> Outcome {
    Outcome(status: 201, content: .json(shape), isLocated: isLocated)
  }
  package static func events(_ events: [EventShape]) -> Outcome {
    Outcome(status: 200, content: .events(events))
  }
  /// A document that is not sent again to a caller that already has it.
  package static func document(_ shape: Shape) -> Outcome {
    Outcome(status: 200, content: .json(shape), isTagged: true)
  }
  package static let notModified = Outcome(status: 304, content: .none, isTagged: true)
  package static func socket(_ events: [EventShape]) -> Outcome {
    Outcome(status: 101, content: .socket(events))
  }
  package static func other(_ mediaType: String, _ meaning: String) -> Outcome {
    Outcome(status: 200, content: .other(mediaType, meaning))
  }
}

/// One kind of Server-Sent Event.
package struct EventShape: Sendable, Hashable {
  package let name: String
  package let data: Shape
  package let meaning: String

  package init(_ name: String, _ data: Shape, _ meaning: String) {
    self.name = name
    self.data = data
    self.meaning = meaning
  }
}
