/// Everything that can be asked for over HTTP.
package enum Routes {
  package static let all: [Route] =
    broker + administration + servers + subscriptions + admissions + channels + channelMembers + groups
    + rooms + notifications

  static let broker: [Route] = [
    Route(
      .get, "/healthz", .everyone, "broker alive", "Say that the process lives", isCommand: false,
      .reply(.ok(Health.aliveShape), by: Health.isAlive)),
    Route(
      .get, "/readyz", .everyone, "broker ready", "Say whether the broker is of use", isCommand: false,
      .reply(.ok(Health.readyShape), by: Health.isReady)),
    Route(
      .get, "/openapi.json", .everyone, "broker openapi", "Describe this interface", isCommand: false,
      .reply(.ok(.jsonObject(bytesMax: .max)), by: Health.describe)),
    Route(
      .get, "/metrics", .loopbackOrToken, "broker metrics", "Show the statistics to Prometheus",
      isCommand: false,
      .reply(
        .other("text/plain; version=0.0.4; charset=utf-8", "Prometheus's text format"),
        by: Operators.metrics)),
    Route(
      .get, "/v1/stats", .trusted, "broker stats", "Show the keyspace, and what each loop has done and holds",
      isCommand: false,
      .reply(.ok(BrokerStatistics.shape), by: Operators.statistics)),
    Route(
      .get, "/v1/types", .token, "broker types", "List the types of notifications", isCommand: false,
      .reply(.ok(NotificationTypes.shape), by: NotificationTypes.list)),
  ]
}
