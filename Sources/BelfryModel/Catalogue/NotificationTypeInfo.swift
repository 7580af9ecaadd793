extension NotificationType {
  /// As the command line and HTTP show it to programs.
  package var info: JSONValue {
    [
      "code": .integer(Int64(code)), "name": .string(name), "in": .string(scene.rawValue),
      "attach": .array(attach.map { .string($0) }), "receivers": .string(receivers),
      "updatedBy": .string(updaters.rawValue),
    ]
  }
}
