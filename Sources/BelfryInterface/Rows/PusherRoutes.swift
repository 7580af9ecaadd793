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
  private static let kind = Field("kind", Kind<PusherKind>.choice, "by what the device is pushed to").needed
  private static let url = Field(
    "url", .text(bytes: 1...urlBytesMax), "of `matrix`: the push gateway; its host alone is enough")
  private static let appId = Field(
    "appId", .text(characters: 1...appIdCharacters), "of `matrix`: the app, as the gateway knows it")
  private static let pushkey = Field(
    "pushkey", .text(bytes: 1...pushkeyBytes), "of `matrix`: the device, as the gateway knows it")
  private static let data = Field(
    "data", .json(bytesMax: dataBytes),
    "of `matrix`: an object for the gateway; with `\"format\": \"event_id_only\"` it is told no contents")
  private static let endpoint = Field(
    "endpoint", .text(bytes: 1...urlBytesMax), "of `webpush`: the subscription's `endpoint`")
  private static let p256dh = Field(
    "p256dh", .text(bytes: 1...keyBytes), "of `webpush`: the subscription's key of that name")
  private static let auth = Field(
    "auth", .text(bytes: 1...secretBytes), "of `webpush`: the subscription's secret of that name")

  private static let pusher = Shape.resource(
    "Pusher",
    [
      .always("deviceId", .device, "the device"),
      .always("kind", .choice(PusherKind.self), "by what it is pushed to"),
      .sometimes("url", .text, "of `matrix`: the push gateway"),
      .sometimes("appId", .text, "of `matrix`: the app"),
      .sometimes("pushkey", .text, "of `matrix`: the device, as the gateway knows it"),
      .sometimes("data", .jsonObject(bytesMax: dataBytes), "of `matrix`: what the gateway is given"),
      .sometimes("endpoint", .text, "of `webpush`: where messages go"),
      .sometimes("p256dh", .text, "of `webpush`: the key that they are encrypted for"),
      .always("createdAt", .time, "when it was put there"),
    ])

  package static let put = BelfryInterface.endpoint(
    .put, "/v1/account/pushers/{deviceId}", .token, "account put-pusher",
    "Have a device pushed to while the account has none connected", path: deviceId,
    body: kind, url, appId, pushkey, data, endpoint, p256dh, auth, refusals: [.tooMany], answers: .ok(pusher))
  package static let list = BelfryInterface.endpoint(
    .get, "/v1/account/pushers", .token, "account pushers",
    "List an account's pushers, and show the key for Web Push",
    answers: .ok(
      .resource(
        "Pushers",
        [
          .always("pushers", .list(pusher), "by device"),
          .sometimes(
            "webPushKey", .text,
            "what browsers subscribe with (`applicationServerKey`); left out where the broker has none"),
        ])))
  package static let show = BelfryInterface.endpoint(
    .get, "/v1/account/pushers/{deviceId}", .token, "account pusher", "Show how a device is pushed to",
    path: deviceId, answers: .ok(pusher))
  package static let remove = BelfryInterface.endpoint(
    .delete, "/v1/account/pushers/{deviceId}", .token, "account remove-pusher", "Push to a device no more",
    path: deviceId, options: RouteOptions(isDestructive: true))
}
