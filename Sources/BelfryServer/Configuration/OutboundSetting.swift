import BelfryBytes
import BelfryHooks
import BelfryModel
import BelfryOutbound

extension Setting {
  /// The settings for requests that the broker sends to others.
  static let outbound: [Setting] = [
    Setting(
      "webhooks.allowedNetworks", shown: { Self.list($0.allowedNetworks) },
      otherwise: "only public addresses, over https"
    ) { configuration, value throws(StartError) in
      configuration.allowedNetworks = try value.networks()
    },
    Setting("webhooks.timeoutMilliseconds", shown: { "\($0.webhookTimeoutMilliseconds)" }) {
      configuration, value throws(StartError) in
      configuration.webhookTimeoutMilliseconds = try value.integer(in: WebhookDispatcher.timeoutMilliseconds)
    },
    Setting("push.delayMilliseconds", shown: { "\($0.push.delayMilliseconds)" }) {
      configuration, value throws(StartError) in
      configuration.push.delayMilliseconds = try value.integer(in: PushSettings.delayMillisecondsRange)
    },
    Setting("push.perSecond", shown: { "\($0.push.perSecond)" }) { configuration, value throws(StartError) in
      configuration.push.perSecond = try value.integer(in: PushSettings.perSecondRange)
    },
    Setting(
      "push.types", shown: { Self.list($0.push.types) }, otherwise: "none"
    ) { configuration, value throws(StartError) in
      configuration.push.types = try value.types()
    },
    Setting(
      "push.keyFile", shown: { $0.push.keyFile },
      otherwise: "push-key.pem in the data folder, made there if Redis is embedded"
    ) { configuration, value throws(StartError) in
      configuration.push.keyFile = try value.text()
    },
    Setting("push.contact", shown: { $0.push.contact }) { configuration, value throws(StartError) in
      let contact = try value.text()
      guard ["mailto:", "https:"].contains(where: { contact.utf8.starts(with: $0.utf8) }) else {
        throw value.refused("it must be a mailto: or an https: address")
      }
      configuration.push.contact = contact
    },
    Setting(
      "push.origins", shown: { $0.push.origins.map { $0.joined(separator: ", ") } },
      otherwise: "public addresses over https, and push.allowedNetworks"
    ) { configuration, value throws(StartError) in
      configuration.push.origins = try value.texts().map { text throws(StartError) in
        guard let url = OutboundURL(text) else {
          throw value.refused("\(text) is not an origin, such as https://push.example")
        }
        return url.origin
      }
    },
    Setting(
      "push.allowedNetworks", shown: { Self.list($0.push.allowedNetworks) },
      otherwise: "only public addresses, over https"
    ) { configuration, value throws(StartError) in
      configuration.push.allowedNetworks = try value.networks()
    },
    Setting(
      "callbacks",
      shown: { configuration in
        configuration.callbacks.isEmpty
          ? nil : configuration.callbacks.map { "\($0.env): \($0.url)" }.joined(separator: ", ")
      }
    ) { configuration, value throws(StartError) in
      configuration.callbacks = try value.callbacks()
    },
  ]
}

extension ConfiguredValue {
  /// The codes of built-in types. A custom notification itself says if it is pushed.
  fileprivate func types() throws(StartError) -> [Int] {
    try integers().map { code throws(StartError) in
      guard code != Catalogue.custom.code, Catalogue.type(code) != nil else {
        throw refused("\(code) is not the code of a built-in type; belfry types lists them")
      }
      return code
    }
  }

  func url() throws(StartError) -> OutboundURL {
    guard let url = OutboundURL(try text()) else { throw refused("it must be \(OutboundURL.rule)") }
    return url
  }

  /// A list of networks and addresses.
  func networks() throws(StartError) -> [IPNetwork] {
    try texts().map { text throws(StartError) in
      guard let network = IPNetwork(text) else {
        throw refused("\(text) is neither a network, such as 10.0.0.0/8 or fd00::/8, nor an address")
      }
      return network
    }
  }

  fileprivate func callbacks() throws(StartError) -> [CallbackSettings] {
    var callbacks: [CallbackSettings] = []
    var taken: Set<[String]> = []
    let names = ["env", "url", "secret", "events", "timeoutMilliseconds", "onFailure", "trusted"]
    for (index, object) in try objects(names).enumerated() {
      let callback = try self.callback(object, at: "\(place)[\(index)]")
      for event in callback.events where !taken.insert([callback.env, event]).inserted {
        throw refused("two of them handle \(event) for the env \(callback.env)")
      }
      callbacks.append(callback)
    }
    return callbacks
  }

  private func callback(
    _ object: [String: ConfiguredValue], at place: String
  ) throws(StartError) -> CallbackSettings {
    guard let url = object["url"], let secret = object["secret"], let events = object["events"],
      let onFailure = object["onFailure"]
    else {
      let missing = ["url", "secret", "events", "onFailure"].filter { object[$0] == nil }
      throw StartError(.invalidValue, "it needs \(missing.joined(separator: " and "))", at: place)
    }
    guard let key = WebhookSecret(try secret.text()) else {
      throw secret.refused("it must be \(WebhookSecret.rule)")
    }
    guard let choice = CallbackSettings.OnFailure(word: UTF8Text(try onFailure.text())) else {
      throw onFailure.refused("it must be allow or deny")
    }
    let names = try events.texts()
    for name in names where !CallbackEvent.all.contains(name) {
      let nearest = NearestWord.to(name, among: CallbackEvent.all)
      throw events.refused(
        "\(name) is not notification.send, notification.update, or an operation such as group.invite"
          + (nearest.map { "; perhaps \($0) is meant" } ?? ""))
    }
    var callback = CallbackSettings(url: try url.url(), secret: key, events: names, onFailure: choice)
    if let env = object["env"] {
      callback.env = try env.text()
      guard callback.env.utf8.count <= Limits.envBytes else {
        throw env.refused("it must be at most \(Limits.envBytes) bytes")
      }
    }
    if let timeout = object["timeoutMilliseconds"] {
      callback.timeoutMilliseconds = try timeout.integer(in: CallbackSettings.timeoutMilliseconds)
    }
    if let trusted = object["trusted"] { callback.asksAboutTrusted = try trusted.flag() }
    return callback
  }
}
