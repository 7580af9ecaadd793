package import BelfryModel

/// The open streams of an account and its tokens.
package enum AccountStreamRoutes {
  package static let all: [Route] = [list.route, end.route, endOnDevice.route, revoke.route]

  private static let deviceId = Field("deviceId", .device, "the device").needed

  private static let stream = Shape.resource(
    "OpenStream",
    [
      .always("streamId", .text, "its id"),
      .sometimes("deviceId", .device, "the device name that the client gave"),
      .always("openedAt", .time, "when the stream was opened"),
      .always(
        "address", .text,
        "the client's address; behind a proxy that the broker does not trust, the proxy's address"),
      .always(
        "broker", .text, "the name of the broker that serves the stream, as in `GET /v1/stats` and in its log"
      ),
    ])
  private static let streams = Shape.resource(
    "OpenStreams",
    [.always("streams", .list(stream), "the open streams on all brokers, oldest first")])
  private static let ended = Shape.resource(
    "EndedStreams", [.always("ended", .count, "the number of streams that were open")])
  private static let revoked = Shape.resource(
    "RevokedTokens", [.always("issuedBefore", .time, "tokens issued before this time are no longer valid")])

  package static let list = endpoint(
    .get, "/v1/account/streams", .token, "account streams", "List the open streams of an account",
    answers: .ok(streams))
  package static let end = endpoint(
    .delete, "/v1/account/streams", .token, "account end", "End all streams of an account",
    answers: .ok(ended),
    options: RouteOptions(
      command: "account end-all", done: "ended the streams", nothingDone: ("ended", "no stream was open"),
      question: "End all streams of the account"))
  package static let endOnDevice = endpoint(
    .delete, "/v1/account/streams/{deviceId}", .token, "account endDevice",
    "End the streams of one device of an account", path: deviceId, answers: .ok(ended),
    options: RouteOptions(
      command: "account end", done: "ended the streams of the device",
      nothingDone: ("ended", "no stream was open on the device")))
  package static let revoke = endpoint(
    .post, "/v1/account/revoke", .token, "account revoke",
    "Revoke all tokens of an account and end its streams", answers: .ok(revoked),
    options: RouteOptions(done: "revoked the tokens", question: "Revoke all tokens of the account"))
}
