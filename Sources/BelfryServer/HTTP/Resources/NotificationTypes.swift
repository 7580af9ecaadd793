import BelfryModel

/// The catalogue of notifications, for programs.
enum NotificationTypes {
  static let shape = Shape.object([
    .always(
      "types",
      .list(
        .resource(
          "NotificationType",
          [
            .always("code", .count, "the `type` of a notification"),
            .always("name", .text, "what it is called"),
            .always("in", .text, "where it happens"),
            .always("attach", .list(.text), "the fields of its `attach`"),
            .always("receivers", .text, "who receives it"),
            .always("updatedBy", .text, "who may change one that was sent"),
          ])), "by code")
  ])

  /// Rendered once: it never changes.
  private static let reply = Reply.json([
    "types": .array(Catalogue.all.sorted { $0.code < $1.code }.map(\.info))
  ])

  static func list(_ request: Request, _ services: LoopServices) async throws(Refusal) -> Reply { reply }
}
