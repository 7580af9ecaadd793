import BelfryBytes
import BelfryHTTP
import BelfryHooks
import BelfryInterface
import BelfryModel
import BelfryOutbound
import BelfryStore
import BelfrySystem

/// The pushers of an account's devices.
enum Pushers {
  static let handlers: [Handler] = [
    PusherRoutes.put.handled(by: put),
    PusherRoutes.list.handled(by: list),
    PusherRoutes.show.handled { request, services, device throws(Refusal) in
      let account = try request.known().account()
      let found = try await all(of: account, services).first { $0.pusher.device == device }
      guard let found else { throw unknown(device) }
      return .json(.object(found.pusher.members(found.failure)))
    },
    PusherRoutes.remove.handled { request, services, device throws(Refusal) in
      let account = try request.known().account()
      let wasThere = try await reading { () async throws(StoreError) in
        try await services.administration.removePusher(of: device, account)
      }
      guard wasThere else { throw unknown(device) }
      return .noContent
    },
  ]

  private static func put(
    _ request: Request, _ services: LoopServices, device: DeviceID, kind: PusherKind, url: String?,
    appId: String?,
    pushkey: String?, data: JSONValue?, endpoint: String?, p256dh: String?, auth: String?
  ) async throws(Refusal) -> HTTPResponse {
    let account = try request.known().account()
    let found: Pusher.Kind
    switch kind {
    case .matrix:
      try refuse([("endpoint", endpoint), ("p256dh", p256dh), ("auth", auth)], kind)
      found = .matrix(
        try gateway(
          url: try given(url, "url", kind), appID: try given(appId, "appId", kind),
          pushkey: try given(pushkey, "pushkey", kind), data: data))
    case .webpush:
      try refuse(
        [("url", url), ("appId", appId), ("pushkey", pushkey), ("data", data.map { _ in "" })], kind)
      guard services.broker.pushKey != nil else {
        throw .invalid("kind", "cannot be webpush: the broker has no key for Web Push (push.keyFile)")
      }
      found = .webPush(
        try subscription(
          endpoint: try given(endpoint, "endpoint", kind), p256dh: try given(p256dh, "p256dh", kind),
          auth: try given(auth, "auth", kind)))
    }
    let pusher = Pusher(device: device, found, nowMilliseconds: WallClock.nowMilliseconds())
    if let cause = services.broker.configuration.push.refusal(of: found) {
      throw .invalid(kind == .matrix ? "url" : "endpoint", cause)
    }
    let store = services.administration
    let isPut = try await reading { () async throws(StoreError) in
      let word = try await services.broker.pushWord.begin(in: store)
      let isPut = try await store.putPusher(pusher.record, of: account)
      request.notePartlyDone()
      try await services.broker.pushWord.confirm(word, in: store)
      return isPut
    }
    guard isPut else {
      throw Refusal(
        .tooMany, "\(account) has \(Limits.pushersPerAccount) pushers, which is the limit; remove one first")
    }
    return .json(.object(pusher.members()))
  }

  private static func list(_ request: Request, _ services: LoopServices) async throws(Refusal) -> HTTPResponse
  {
    let account = try request.known().account()
    let pushers = try await all(of: account, services).map { JSONValue.object($0.pusher.members($0.failure)) }
    var members: JSONObject = ["pushers": .array(pushers)]
    if let key = services.broker.pushKey { members["webPushKey"] = .string(key.publicText) }
    return .json(.object(members))
  }

  // MARK: Parts

  private static func gateway(
    url: String, appID: String, pushkey: String, data: JSONValue?
  ) throws(Refusal) -> MatrixGateway {
    var object: JSONObject?
    switch data {
    case nil: break
    case .object(let members)?: object = members
    default: throw .invalid("data", "must be an object")
    }
    guard let gateway = MatrixGateway(url: url, appID: appID, pushkey: pushkey, data: object) else {
      throw .invalid("url", "must be \(OutboundURL.rule)")
    }
    return gateway
  }

  private static func subscription(
    endpoint: String, p256dh: String, auth: String
  ) throws(Refusal) -> WebPushSubscription {
    guard let url = OutboundURL(endpoint) else { throw .invalid("endpoint", "must be \(OutboundURL.rule)") }
    guard let key = Base64URL.decode(p256dh.utf8), P256PrivateKey.isPoint(key) else {
      throw .invalid("p256dh", "must be a public key on P-256, uncompressed, in base64url")
    }
    guard let secret = Base64URL.decode(auth.utf8), secret.count == WebPushEncryption.secretBytes else {
      throw .invalid("auth", "must be \(WebPushEncryption.secretBytes) bytes in base64url")
    }
    return WebPushSubscription(endpoint: url, publicKey: key, secret: secret)
  }

  private static func given(_ text: String?, _ field: String, _ kind: PusherKind) throws(Refusal) -> String {
    guard let text else { throw .invalid(field, "is needed with kind \(kind.rawValue)") }
    return text
  }

  private static func refuse(_ fields: [(name: String, value: String?)], _ kind: PusherKind) throws(Refusal) {
    for (name, value) in fields where value != nil {
      throw .invalid(name, "is not a field of kind \(kind.rawValue)")
    }
  }

  private static func all(
    of account: AccountID, _ services: LoopServices
  ) async throws(Refusal) -> [(pusher: Pusher, failure: PushFailure?)] {
    try await reading { () async throws(StoreError) in
      try await services.administration.pushers(of: [account])[0].compactMap { record in
        Pusher(record).map { ($0, record.failure) }
      }
    }
  }

  private static func unknown(_ device: DeviceID) -> Refusal {
    Refusal(.notFound, "device \(device) has no pusher")
  }
}

extension Pusher {
  fileprivate func members(_ failure: PushFailure? = nil) -> JSONObject {
    var members: JSONObject = [
      "deviceId": .string(device.text), "kind": .string(kind.word.rawValue),
      "createdAt": .integer(createdAtMilliseconds),
    ]
    switch kind {
    case .matrix(let gateway):
      members["url"] = .string(gateway.url.text)
      members["appId"] = .string(gateway.appID)
      members["pushkey"] = .string(gateway.pushkey)
      if let data = gateway.data { members["data"] = .object(data) }
    case .webPush(let subscription):
      members["endpoint"] = .string(subscription.endpoint.text)
      members["p256dh"] = .string(Base64URL.encode(subscription.publicKey))
    }
    if let failure {
      members["failedAt"] = .integer(failure.atMilliseconds)
      members["failure"] = .string(failure.cause)
    }
    return members
  }
}
