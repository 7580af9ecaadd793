import BelfryInterface

/// Why an account sees a notification, or does not.
public struct Explanation: Sendable, Hashable, Codable {
  public var visible: Bool
  /// A stable word.
  public var reason: String
  /// A sentence for a person.
  public var detail: String
  /// What the answer rests on: member since, subscribed since, how the notification was stamped, whether
  /// the account is named in it, when it was read…
  public var facts: JSONObject
}

extension BelfryClient {
  /// Says why an account did, does not or will not see a notification.
  public func explain(_ id: MessageID, to account: AccountID) async throws(BelfryError) -> Explanation {
    var request = HTTPRequest(OperatorRoutes.explain.route, id.text)
    request.ask("account", account.text)
    return try await value(Explanation.self, request)
  }

  /// The broker's counters and gauges, by name.
  public func stats() async throws(BelfryError) -> JSONObject {
    try await value(JSONObject.self, HTTPRequest(OperatorRoutes.statistics.route))
  }
}
