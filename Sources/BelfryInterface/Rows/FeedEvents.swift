/// What comes on a stream.
enum FeedEvents {
  static let gap = Shape.resource(
    "Gap", [.always("from", .message, "from"), .always("to", .message, "to")])
}
