import BelfryInterface

/// The reason why an account sees a notification, or does not.
///
/// ```swift
/// let explanation = try await client.explain(messageID, to: alice)
/// print(explanation.visible ? "alice sees it" : "alice does not see it", explanation.detail)
/// ```
public struct Explanation: Sendable, Hashable, Codable {
  /// True if the account sees the notification.
  public var visible: Bool
  /// The reason as a stable word, such as `notWanted`.
  public var reason: String
  /// The reason as a sentence for a person.
  public var detail: String
  /// The facts that decide it, such as since when the account is a member and subscribed, how the notification was stamped,
  /// and if the account is named in it or has marked it read.
  public var facts: JSONObject
}

extension BelfryClient {
  /// Explains why an account did, does or will not see a notification. Needs the token of an app or an operator.
  ///
  /// - Throws: ``BelfryError/Code/forbidden`` with the token of a user; ``BelfryError/Code/notFound`` if the broker
  ///   knows nothing of such a notification.
  public func explain(_ id: MessageID, to account: AccountID) async throws(BelfryError) -> Explanation {
    var request = HTTPRequest(OperatorRoutes.explain.route, id.text)
    request.ask("account", account.text)
    return try await value(Explanation.self, request)
  }

  /// Fetches the broker's counters and gauges, by name. Needs the token of an app or an operator.
  ///
  /// - Throws: ``BelfryError/Code/forbidden`` with the token of a user.
  public func stats() async throws(BelfryError) -> JSONObject {
    try await value(JSONObject.self, HTTPRequest(OperatorRoutes.statistics.route))
  }
}
