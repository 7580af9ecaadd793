package import BelfryOutbound

/// One callback as it is configured: its URL, the events that it is asked about, and the decision if it does not answer.
package struct CallbackSettings: Sendable, Hashable {
  package enum OnFailure: String, Sendable, CaseIterable {
    case allow, deny
  }

  package static let timeoutMilliseconds = 100...5_000
  package static let envStandard = "default"

  package var env = envStandard
  package var url: OutboundURL
  package var secret: WebhookSecret
  /// `notification.send`, `notification.update`, and operations such as `group.invite`.
  package var events: [String]
  package var timeoutMilliseconds = 1_000
  package var onFailure: OnFailure
  /// True if it is also asked about requests of trusted callers.
  package var asksAboutTrusted = false

  package init(url: OutboundURL, secret: WebhookSecret, events: [String], onFailure: OnFailure) {
    self.url = url
    self.secret = secret
    self.events = events
    self.onFailure = onFailure
  }
}
