import BelfryBytes
import BelfryModel

extension Setting {
  /// The settings for pages in browsers.
  static let browsers: [Setting] = [
    Setting(
      "browsers.allowedOrigins", shown: { Self.list($0.browsers.allowedOrigins) },
      otherwise: "no page of another origin"
    ) { configuration, value throws(StartError) in
      configuration.browsers.allowedOrigins = try value.distinct(of: "origins") { text throws(StartError) in
        guard let origin = WebOrigin(text) else {
          throw value.refused("\(text) is not \(WebOrigin.rule)")
        }
        return origin
      }
    },
    Setting("browsers.cookie", shown: { "\($0.browsers.givesCookies)" }) {
      configuration, value throws(StartError) in
      configuration.browsers.givesCookies = try value.flag()
    },
    Setting("browsers.hosts", shown: { Self.list($0.browsers.hosts) }, otherwise: "any") {
      configuration, value throws(StartError) in
      configuration.browsers.hosts = try value.distinct(of: "hosts") { text throws(StartError) in
        guard let host = HostName(Substring(text)) else {
          throw value.refused(
            "\(text) is not a host with or without a port, such as belfry.example or [::1]:8080")
        }
        return host
      }
    },
  ]

  /// Nil for an empty list.
  static func list(_ elements: [some CustomStringConvertible]) -> String? {
    elements.isEmpty ? nil : elements.map(\.description).joined(separator: ", ")
  }
}

extension ConfiguredValue {
  /// A list without duplicates.
  fileprivate func distinct<Element: Hashable>(
    of what: String, _ read: (String) throws(StartError) -> Element
  ) throws(StartError) -> [Element] {
    var elements: [Element] = []
    for text in try texts() {
      let element = try read(text)
      guard !elements.contains(element) else { throw refused("\(text) occurs twice") }
      elements.append(element)
    }
    guard elements.count <= BrowserSettings.listMax else {
      throw refused("it may have at most \(BrowserSettings.listMax) \(what)")
    }
    return elements
  }
}
