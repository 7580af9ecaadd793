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

  package static let noContent = Outcome(status: 204, content: .none)
  package static func ok(_ shape: Shape) -> Outcome { Outcome(status: 200, content: .json(shape)) }
  package static func created(_ shape: Shape, isLocated: Bool = true) -> Outcome {
    Outcome(status: 201, content: .json(shape), isLocated: isLocated)
  }
  package static func other(_ mediaType: String, _ meaning: String) -> Outcome {
    Outcome(status: 200, content: .other(mediaType, meaning))
  }
}
