import BelfryBytes

extension Setting {
  /// The settings of the proxies in front of the broker.
  static let proxies: [Setting] = [
    Setting(
      "proxies.trusted", shown: { Self.list($0.proxies.networks) },
      otherwise: "nobody: a client's address is that of its connection"
    ) { configuration, value throws(StartError) in
      configuration.proxies.networks = try value.networks()
    },
    Setting("proxies.field", shown: { $0.proxies.field.rawValue }) {
      configuration, value throws(StartError) in
      guard let field = TrustedProxies.Field(word: UTF8Text(try value.text())) else {
        throw value.refused("it must be X-Forwarded-For or Forwarded")
      }
      configuration.proxies.field = field
    },
  ]
}
