package import BelfryOutbound

/// How a broker pushes.
package struct PushSettings: Sendable, Hashable {
  /// So long after a notification was appended it is pushed to those who are not there and have not read it.
  package var delayMilliseconds = 3_000
  /// Requests to gateways and push services in a second, at most.
  package var perSecond = 1_000
  /// The file with the key for Web Push; nil: in the data folder.
  package var keyFile: String?
  /// For whoever runs a push service.
  package var contact: String?
  /// Where pushers may lead; nil: anywhere that the broker's requests may go.
  package var origins: [String]?

  package static let delayMillisecondsRange = 0...600_000
  package static let perSecondRange = 1...100_000

  package init() {}

  package func allows(_ url: OutboundURL) -> Bool { origins?.contains(url.origin) ?? true }
}
