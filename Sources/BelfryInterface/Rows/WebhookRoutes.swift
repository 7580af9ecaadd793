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
  private static let url = Field("url", .text(bytes: 1...urlBytesMax), "the URL that copies are posted to")
  private static let types = Field(
    "types", .list(.integer(1...Int(Int32.max)), counts: 1...typesMax),
    "the types to copy; absent: all")
  private static let spaces = Field(
    "spaces", .list(.text(bytes: 1...spaceBytesMax), counts: 1...spacesMax),
    "the spaces to copy from, such as `server:7`, `group:7`, `room:7`, `account:bob`; absent: all")
  private static let env = Field(
    "env", .text(bytes: 1...Limits.envBytes), "copy only notifications with this `env`; absent: all")
  private static let changedTypes = Field(
    "types", .list(.integer(1...Int(Int32.max)), counts: 0...typesMax),
    "the types to copy, or an empty list for all; absent: as before")
  private static let changedSpaces = Field(
    "spaces", .list(.text(bytes: 1...spaceBytesMax), counts: 0...spacesMax),
    "the spaces to copy from, such as `server:7`, or an empty list for all; absent: as before")
  private static let changedEnv = Field(
    "env", .text(bytes: 0...Limits.envBytes),
    "copy only notifications with this `env`, or an empty text for all; absent: as before")
  private static let format = Field("format", Kind<WebhookFormat>.choice, "the format of a copy")

  private static let properties: [Property] = [
    .always("webhookId", .id, "its id"),
    .always("url", .text, "the URL that copies are posted to"),
    Property("types", .list(.count), "the types that are copied; absent: all", wordIfAbsent: "all"),
    Property("spaces", .list(.text), "the spaces that are copied from; absent: all", wordIfAbsent: "all"),
    .sometimes("env", .text, "the `env` of notifications that are copied; absent: all"),
    .always("format", .choice(WebhookFormat.self), "the format of a copy"),
    .always("createdAt", .time, "when it was created"),
    .always("enabled", .flag, "whether copies are delivered"),
    .sometimes(
      "disabledBecause", .text,
      "why copies are not delivered: the receiver answered 410 (`gone`), deliveries failed for 120 hours (`failing`), "
        + "or a caller disabled it (`asked`)"
    ),
    .sometimes("failingSince", .time, "when deliveries began to fail"),
    .sometimes("failedAt", .time, "when a delivery last failed"),
    .sometimes("failure", .text, "why that delivery failed"),
    .sometimes("oldestPending", .time, "the time of the oldest notification that is not delivered yet"),
  ]
  private static let webhook = Shape.resource("Webhook", properties)
  private static let made = Shape.resource(
    "MadeWebhook",
    properties + [
      .always("secret", .text, "the secret that deliveries are signed with, which is shown only once")
    ]
  )

  package static let create = endpoint(
    .post, "/v1/webhooks", .trusted, "webhook create",
    "Create a webhook, which posts copies of notifications to a URL",
    body: url.needed, types, spaces, env, format.otherwise(.belfry, "belfry"), refusals: [.tooMany],
    answers: .created(made),
    options: RouteOptions(done: "created the webhook", example: ["url": "https://archive.example/copies"]))
  private static let limit = Field("limit", .integer(1...countMax), "the maximum number of results")
    .otherwise(countMax, .integer(Int64(countMax)))
  package static let list = endpoint(
    .get, "/v1/webhooks", .trusted, "webhook list", "List the webhooks", query: limit,
    answers: .ok(.page("webhooks", of: webhook, "sorted by id")),
    options: RouteOptions(columns: [
      "webhookId", "url", "types", "spaces", "enabled", "disabledBecause", "failingSince", "failure",
    ]))
  package static let show = endpoint(
    .get, "/v1/webhooks/{webhookId}", .trusted, "webhook show", "Show a webhook and its backlog",
    path: webhookId, answers: .ok(webhook))

  private static let enabled = Field("enabled", .flag, "whether copies are delivered")
  package static let update = endpoint(
    .patch, "/v1/webhooks/{webhookId}", .trusted, "webhook update", "Change a webhook",
    path: webhookId, body: url, changedTypes, changedSpaces, changedEnv, format, enabled,
    rule: .someOf(["url", "types", "spaces", "env", "format", "enabled"]), refusals: [.conflict],
    answers: .ok(webhook),
    options: RouteOptions(done: "changed the webhook", example: ["enabled": "false"]))
  package static let remove = endpoint(
    .delete, "/v1/webhooks/{webhookId}", .trusted, "webhook remove", "Remove a webhook",
    path: webhookId, options: RouteOptions(done: "removed the webhook", question: "Remove for good"))
  package static let rotate = endpoint(
    .post, "/v1/webhooks/{webhookId}/rotate", .trusted, "webhook rotate",
    "Rotate a webhook's secret; for 24 hours deliveries are also signed with the old one", path: webhookId,
    refusals: [.tooMany, .conflict], answers: .ok(made),
    options: RouteOptions(done: "made a new secret; it is shown only this once"))
  package static let test = endpoint(
    .post, "/v1/webhooks/{webhookId}/test", .trusted, "webhook test",
    "Post a test to a webhook and show the result",
    path: webhookId,
    answers: .ok(
      .resource(
        "WebhookTest",
        [
          .always("delivered", .flag, "whether the receiver answered with 2xx"),
          .sometimes("status", .count, "the HTTP status of the answer, if there was one"),
          .sometimes("failure", .text, "why the test failed, if it did"),
        ])), options: RouteOptions(done: "tested the webhook"))

  /// A number too small for an id is a time.
  package static let replayTimesMax: Int64 = 1_000_000_000_000_000
  private static let from = Field(
    "from",
    Kind<Int64>(.message) { value, path throws(Refusal) in
      guard let id = try? Kind<MessageID>.message.read(value, path) else {
        throw .invalid(path, "must be a notification's id or a time in milliseconds since 1970")
      }
      return id.raw
    }, "a notification's id or a time in milliseconds since 1970; everything since then is posted again"
  ).needed
  package static let replay = endpoint(
    .post, "/v1/webhooks/{webhookId}/replay", .trusted, "webhook replay", "Deliver a webhook's copies again",
    path: webhookId,
    body: from, options: RouteOptions(done: "started the replay"))
}
