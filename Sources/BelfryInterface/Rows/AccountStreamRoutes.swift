package import BelfryModel

/// The open streams of an account and its tokens.
package enum AccountStreamRoutes {
  package static let all: [Route] = [list.route, end.route, endOnDevice.route, revoke.route]

  private static let deviceId = Field("deviceId", .device, "the device").needed

  private static let stream = Shape.resource(
    "OpenStream",
    [
      .always("streamId", .text, "its id"),
      .sometimes("deviceId", .device, "the device that it says it is"),
      .always("openedAt", .time, "since when it is open"),
      .always(
        "address", .text,
        "from where, as far as the broker knows: behind a proxy that it does not trust, the proxy's"),
      .always("broker", .text, "which broker has it; `GET /v1/stats` and the log say each one's name"),
    ])
  private static let streams = Shape.resource(
    "OpenStreams",
    [.always("streams", .list(stream), "those that are open, on all brokers, the oldest first")])
  private static let ended = Shape.resource(
    "EndedStreams", [.always("ended", .count, "how many were open")])
  private static let revoked = Shape.resource(
    "RevokedTokens", [.always("issuedBefore", .time, "tokens issued before this are void")])

  package static let list = endpoint(
    .get, "/v1/account/streams", .token, "account streams", "List the open streams of an account",
    answers: .ok(streams))
  package static let end = endpoint(
    .delete, "/v1/account/streams", .token, "account end", "End all streams of an account",
    answers: .ok(ended),
    options: RouteOptions(command: "account end-all"))
  package static let endOnDevice = endpoint(
    .delete, "/v1/account/streams/{deviceId}", .token, "account endDevice",
    "End the streams of one device of an account", path: deviceId, answers: .ok(ended),
    options: RouteOptions(command: "account end"))
  package static let revoke = endpoint(
    .post, "/v1/account/revoke", .token, "account revoke",
    "Void all tokens issued to an account so far, and end what was opened with them", answers: .ok(revoked),
    options: RouteOptions(isDestructive: true))
}
