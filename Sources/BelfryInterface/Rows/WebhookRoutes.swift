package import BelfryModel

/// Copies of notifications for servers of other systems.
package enum WebhookRoutes {
  package static let all: [Route] = [
    create.route, list.route, show.route, update.route, remove.route, rotate.route, test.route, replay.route,
  ]

  package static let urlBytesMax = 2_048
  package static let countMax = 100
  private static let typesMax = 100
  private static let spacesMax = 100
  private static let spaceBytesMax = 96

  private static let webhookId = Field("webhookId", .id, "the webhook").needed
  private static let url = Field("url", .text(bytes: 1...urlBytesMax), "where copies are posted")
  private static let types = Field(
    "types", .list(.integer(1...Int(Int32.max)), counts: 1...typesMax),
    "which types are copied; all if left out")
  private static let spaces = Field(
    "spaces", .list(.text(bytes: 1...spaceBytesMax), counts: 1...spacesMax),
    "what is copied of, such as `server:7`, `group:7`, `room:7`, `account:bob`; everything if left out")
  private static let env = Field(
    "env", .text(bytes: 1...Limits.envBytes), "of which `env`; of all if left out")
  private static let format = Field("format", Kind<WebhookFormat>.choice, "how a copy is written")

  private static let properties: [Property] = [
    .always("webhookId", .id, "its id"),
    .always("url", .text, "where copies are posted"),
    .sometimes("types", .list(.count), "which types are copied; left out: all"),
    .sometimes("spaces", .list(.text), "what is copied of; left out: everything"),
    .sometimes("env", .text, "of which `env`; left out: of all"),
    .always("format", .choice(WebhookFormat.self), "how a copy is written"),
    .always("createdAt", .time, "when it was made"),
    .always("enabled", .flag, "whether copies are delivered"),
    .sometimes("disabledBecause", .text, "`gone`: it answered 410; `failing`: for 120 hours; `asked`"),
    .sometimes("failingSince", .time, "since when nothing could be delivered"),
    .sometimes("failedAt", .time, "when a delivery failed last"),
    .sometimes("failure", .text, "why"),
    .sometimes("oldestPending", .time, "from when the oldest is that is not delivered"),
  ]
  private static let webhook = Shape.resource("Webhook", properties)
  private static let made = Shape.resource(
    "MadeWebhook", properties + [.always("secret", .text, "what deliveries are signed with, shown this once")]
  )

  package static let create = endpoint(
    .post, "/v1/webhooks", .trusted, "webhook create", "Have copies of notifications posted to a URL",
    body: url.needed, types, spaces, env, format.otherwise(.belfry, "belfry"), refusals: [.tooMany],
    answers: .created(made))
  private static let limit = Field("limit", .integer(1...countMax), "how many at most")
    .otherwise(countMax, .integer(Int64(countMax)))
  package static let list = endpoint(
    .get, "/v1/webhooks", .trusted, "webhook list", "List the webhooks", query: limit,
    answers: .ok(.page("webhooks", of: webhook, "by id")))
  package static let show = endpoint(
    .get, "/v1/webhooks/{webhookId}", .trusted, "webhook show", "Show a webhook, and what waits for it",
    path: webhookId, answers: .ok(webhook))

  private static let enabled = Field("enabled", .flag, "whether copies are delivered")
  package static let update = endpoint(
    .patch, "/v1/webhooks/{webhookId}", .trusted, "webhook update", "Change a webhook",
    path: webhookId, body: url, types, spaces, env, format, enabled,
    rule: .someOf(["url", "types", "spaces", "env", "format", "enabled"]), refusals: [.conflict],
    answers: .ok(webhook))
  package static let remove = endpoint(
    .delete, "/v1/webhooks/{webhookId}", .trusted, "webhook remove", "Remove a webhook",
    path: webhookId, options: RouteOptions(isDestructive: true))
  package static let rotate = endpoint(
    .post, "/v1/webhooks/{webhookId}/rotate", .trusted, "webhook rotate",
    "Sign with another secret, and for 24 hours with the old one, too", path: webhookId,
    refusals: [.tooMany, .conflict], answers: .ok(made))
  package static let test = endpoint(
    .post, "/v1/webhooks/{webhookId}/test", .trusted, "webhook test", "Post a test, and say what came of it",
    path: webhookId,
    answers: .ok(
      .resource(
        "WebhookTest",
        [
          .always("delivered", .flag, "whether it was answered with 2xx"),
          .sometimes("status", .count, "of the answer, if there was one"),
          .sometimes("failure", .text, "why not, if it was not"),
        ])))

  /// A number too small for an id is a time.
  private static let timesMax: Int64 = 1_000_000_000_000_000
  private static let from = Field(
    "from",
    Kind<MessageID>(.message) { value, path throws(Refusal) in
      let id = try Kind<MessageID>.message.read(value, path)
      return id.raw < timesMax ? MessageID(firstAtUnixMilliseconds: id.raw) : id
    }, "a notification's id, or a time in milliseconds since 1970: from it on everything is posted again"
  ).needed
  package static let replay = endpoint(
    .post, "/v1/webhooks/{webhookId}/replay", .trusted, "webhook replay", "Post copies again",
    path: webhookId,
    body: from)
}
