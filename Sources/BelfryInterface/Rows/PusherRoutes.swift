package import BelfryModel

/// The ways to push to an account's devices while none of them is connected.
package enum PusherRoutes {
  package static let all: [Route] = [put.route, list.route, show.route, remove.route]

  package static let urlBytesMax = 2_048
  /// The limit of the Matrix specification.
  package static let appIdCharacters = 64
  package static let pushkeyBytes = 512
  package static let dataBytes = 1_024
  /// A point on P-256 and 16 bytes, in base64url.
  private static let keyBytes = 87
  private static let secretBytes = 22

  private static let deviceId = Field("deviceId", .device, "the device").needed
  private static let kind = Field("kind", Kind<PusherKind>.choice, "how the device receives pushes").needed
  private static let url = Field(
    "url", .text(bytes: 1...urlBytesMax),
    "for `matrix`: the URL of the push gateway; its scheme and host are enough")
  private static let appId = Field(
    "appId", .text(characters: 1...appIdCharacters), "for `matrix`: the app's id at the gateway")
  private static let pushkey = Field(
    "pushkey", .text(bytes: 1...pushkeyBytes), "for `matrix`: the device's key at the gateway")
  private static let data = Field(
    "data", .json(bytesMax: dataBytes),
    "for `matrix`: an object for the gateway; with `\"format\": \"event_id_only\"` pushes have no contents")
  private static let endpoint = Field(
    "endpoint", .text(bytes: 1...urlBytesMax), "for `webpush`: the subscription's `endpoint`")
  private static let p256dh = Field(
    "p256dh", .text(bytes: 1...keyBytes), "for `webpush`: the subscription's key `p256dh`")
  private static let auth = Field(
    "auth", .text(bytes: 1...secretBytes), "for `webpush`: the subscription's secret `auth`")

  private static let pusher = Shape.resource(
    "Pusher",
    [
      .always("deviceId", .device, "the device"),
      .always("kind", .choice(PusherKind.self), "how the device receives pushes"),
      .sometimes("url", .text, "for `matrix`: the URL of the push gateway"),
      .sometimes("appId", .text, "for `matrix`: the app's id at the gateway"),
      .sometimes("pushkey", .text, "for `matrix`: the device's key at the gateway"),
      .sometimes("data", .jsonObject(bytesMax: dataBytes), "for `matrix`: the object for the gateway"),
      .sometimes("endpoint", .text, "for `webpush`: the subscription's `endpoint`"),
      .sometimes("p256dh", .text, "for `webpush`: the key that pushes are encrypted for"),
      .always("createdAt", .time, "when the pusher was set"),
      .sometimes(
        "failedAt", .time,
        "the time of the last push that failed or was given up; absent if the latest push was accepted, or if none was sent"
      ),
      .sometimes(
        "failure", .text,
        "why that push failed, and whether pushes were given up because too many waited"),
    ])

  package static let put = BelfryInterface.endpoint(
    .put, "/v1/account/pushers/{deviceId}", .token, "account put-pusher",
    "Set a device's pusher, which receives pushes while the account has no device connected", path: deviceId,
    body: kind, url, appId, pushkey, data, endpoint, p256dh, auth, refusals: [.tooMany], answers: .ok(pusher),
    options: RouteOptions(
      done: "saved the pusher",
      example: [
        "url": "https://push.example", "appId": "com.example.app", "pushkey": "5d41402abc4b2a76",
      ],
      needed: [
        NeededWithChoice(field: "kind", word: "matrix", names: ["url", "appId", "pushkey"]),
        NeededWithChoice(field: "kind", word: "webpush", names: ["endpoint", "p256dh", "auth"]),
      ]))
  package static let list = BelfryInterface.endpoint(
    .get, "/v1/account/pushers", .token, "account pushers",
    "List an account's pushers and the key for Web Push",
    answers: .ok(
      .resource(
        "Pushers",
        [
          .always("pushers", .list(pusher), "sorted by device"),
          .sometimes(
            "webPushKey", .text,
            "the key that browsers subscribe with (`applicationServerKey`); absent if the broker has none"),
        ])))
  package static let show = BelfryInterface.endpoint(
    .get, "/v1/account/pushers/{deviceId}", .token, "account pusher", "Show a device's pusher",
    path: deviceId, answers: .ok(pusher))
  package static let remove = BelfryInterface.endpoint(
    .delete, "/v1/account/pushers/{deviceId}", .token, "account remove-pusher", "Remove a device's pusher",
    path: deviceId, options: RouteOptions(done: "removed the pusher", question: "Remove the pusher"))
}
