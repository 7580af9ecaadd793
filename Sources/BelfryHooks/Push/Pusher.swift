import BelfryBytes
package import BelfryModel
package import BelfryOutbound
package import BelfryStore

/// How a device of an account is pushed to while no device of the account is connected.
package struct Pusher: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case matrix(MatrixGateway)
    case webPush(WebPushSubscription)

    package var word: PusherKind {
      switch self {
      case .matrix: .matrix
      case .webPush: .webpush
      }
    }

    /// The URL that requests for it go to.
    package var url: OutboundURL {
      switch self {
      case .matrix(let gateway): gateway.url
      case .webPush(let subscription): subscription.endpoint
      }
    }
  }

  package let device: DeviceID
  package var kind: Kind
  package var createdAtMilliseconds: Int64

  package init(device: DeviceID, _ kind: Kind, nowMilliseconds: Int64) {
    self.device = device
    self.kind = kind
    createdAtMilliseconds = nowMilliseconds
  }

  /// The URL that requests for it go to.
  package var url: OutboundURL { kind.url }
}

/// A push gateway as Matrix has them, which knows how to reach an app's devices.
///
/// Source: Matrix specification v1.11, "Push Gateway API".
package struct MatrixGateway: Sendable, Hashable {
  /// The one path that there is.
  package static let path = "/_matrix/push/v1/notify"

  package var url: OutboundURL
  package var appID: String
  package var pushkey: String
  /// For the gateway. With `format` `event_id_only` it is told nothing but which notification it is.
  package var data: JSONObject?

  /// - Parameter url: where only the gateway's host is named, the standard's path is meant.
  package init?(url: String, appID: String, pushkey: String, data: JSONObject?) {
    guard let given = OutboundURL(url) else { return nil }
    guard let whole = given.hasPathOnly("/") ? OutboundURL(given.text.dropLast() + Self.path) : given else {
      return nil
    }
    self.url = whole
    self.appID = appID
    self.pushkey = pushkey
    self.data = data
  }

  var isToldIDsOnly: Bool { data?["format"] == .string("event_id_only") }
}

/// A subscription that a browser, or a distributor of UnifiedPush, has made.
package struct WebPushSubscription: Sendable, Hashable {
  package var endpoint: OutboundURL
  package var publicKey: [UInt8]
  package var secret: [UInt8]

  package init(endpoint: OutboundURL, publicKey: [UInt8], secret: [UInt8]) {
    self.endpoint = endpoint
    self.publicKey = publicKey
    self.secret = secret
  }
}

// MARK: - As it is kept

extension Pusher {
  package var record: PusherRecord {
    var members: JSONObject = ["createdAt": .integer(createdAtMilliseconds)]
    switch kind {
    case .matrix(let gateway):
      members["url"] = .string(gateway.url.text)
      members["appId"] = .string(gateway.appID)
      members["pushkey"] = .string(gateway.pushkey)
      if let data = gateway.data { members["data"] = .object(data) }
    case .webPush(let subscription):
      members["endpoint"] = .string(subscription.endpoint.text)
      members["p256dh"] = .string(Base64URL.encode(subscription.publicKey))
      members["auth"] = .string(Base64URL.encode(subscription.secret))
    }
    return PusherRecord(device: device, text: RecordJSON.text(.object(members)))
  }

  /// Nil if the text is not one that this code writes.
  package init?(_ record: PusherRecord) {
    guard case .object(let members)? = RecordJSON.value(record.text),
      case .integer(let createdAt)? = members["createdAt"], let kind = Kind(members)
    else { return nil }
    (device, self.kind, createdAtMilliseconds) = (record.device, kind, createdAt)
  }
}

extension Pusher.Kind {
  fileprivate init?(_ members: JSONObject) {
    let text = { (name: String) -> String? in
      if case .string(let text)? = members[name] { text } else { nil }
    }
    if let url = text("url"), let appID = text("appId"), let pushkey = text("pushkey") {
      var data: JSONObject?
      if case .object(let object)? = members["data"] { data = object }
      guard let gateway = MatrixGateway(url: url, appID: appID, pushkey: pushkey, data: data) else {
        return nil
      }
      self = .matrix(gateway)
    } else if let endpoint = text("endpoint").flatMap({ OutboundURL($0) }),
      let key = text("p256dh").flatMap({ Base64URL.decode($0.utf8) }),
      let secret = text("auth").flatMap({ Base64URL.decode($0.utf8) })
    {
      self = .webPush(WebPushSubscription(endpoint: endpoint, publicKey: key, secret: secret))
    } else {
      return nil
    }
  }
}
