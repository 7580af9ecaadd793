internal import BelfryModel
package import BelfryOutbound

/// How a broker pushes.
package struct PushSettings: Sendable, Hashable {
  /// How long after its append a notification is pushed to accounts that are not connected and have not read it.
  package var delayMilliseconds = 3_000
  /// The most requests to gateways and push services in a second.
  package var perSecond = 1_000
  /// The file with the key for Web Push. Nil means the one in the data folder.
  package var keyFile: String?
  /// The address at which the operator of a push service reaches the operator of the broker.
  package var contact: String?
  /// The origins to which pushers may lead. Nil means any that ``allowedNetworks`` and the standards allow.
  package var origins: [String]?
  /// Networks that are not public and to which pushes may go, also without encryption. They are separate from those of
  /// webhooks and callbacks because any account may name the URL of a pusher.
  package var allowedNetworks: [IPNetwork] = []

  /// Built-in types that are pushed although nobody asked for it when sending: invitations, applications, and the call on
  /// stage.
  package var types = [
    Catalogue.serverMemberInvite, Catalogue.serverMemberApply, Catalogue.channelInvitation,
    Catalogue.groupInvitation, Catalogue.groupJoinRequest, Catalogue.roomStageInvitation,
  ].map(\.code)

  package static let delayMillisecondsRange = 0...600_000
  package static let perSecondRange = 1...100_000

  package init() {}

  /// Decides which addresses pushes may go to.
  package var addressPolicy: AddressPolicy {
    AddressPolicy(allowedNetworks: allowedNetworks, setting: "push.allowedNetworks")
  }

  /// - Returns: why a pusher may not lead there. Nil if it may. The address of a name is checked when the connection is
  ///   made.
  package func refusal(of kind: Pusher.Kind) -> String? {
    let url = kind.url
    if let origins, !origins.contains(url.origin) { return "must lead to one of push.origins" }
    if let cause = addressPolicy.refusal(of: url) { return cause }
    // Otherwise an account could choose a request to a service in these networks.
    if origins == nil, case .matrix = kind, !url.hasPathOnly(MatrixGateway.path) {
      return "must have the path \(MatrixGateway.path), and no query, unless push.origins names its origin"
    }
    return nil
  }
}
