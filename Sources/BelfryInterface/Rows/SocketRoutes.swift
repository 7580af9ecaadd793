import BelfryBytes
package import BelfryModel

/// The WebSocket: how it is opened, and its frames.
package enum SocketRoutes {
  package static let all: [Route] = [socket.route]

  package static let subprotocol: StaticString = "belfry.v1.json"

  /// A page does not know which cookies its browser sends along.
  package static let saysLater = Field(
    "connect", .integer(0...1),
    "1: the token comes in the first frame, and a cookie of the request is ignored"
  ).otherwise(0, 0)

  package static let socket = endpoint(
    .get, "/v1/socket", .tokenLater, "notification socket",
    "Open a WebSocket: it carries the same feed as the stream, and takes sends, marks and subscriptions",
    query: NotificationRoutes.after, NotificationRoutes.withCounts, NotificationRoutes.ticket,
    saysLater, refusals: [.tooMany], answers: .socket(FeedEvents.all),
    options: RouteOptions(hasCommand: false, takesTicket: true))

  // MARK: The first frame

  private static let token = Field(
    "token", .text(bytes: 1...8 * 1_024), "the token or key, as in the header `Authorization` after `Bearer`"
  ).needed
  private static let account = Field(
    "account", .account, "the account that an app or operator token acts for")
  private static let device = Field("device", .device, "the device, if the token names none")
  private static let counts = Field(
    "counts", .flag, "whether to send the number of unread notifications whenever it changes")

  private static let connectFields = FieldList(
    token, NotificationRoutes.after, device, account, counts)
  static let connectShape = ObjectShape(connectFields.properties, rule: .none)

  /// Renames the field of a refusal. HTTP has these values in headers, and a frame has them in fields with other names.
  package static func inWordsOfConnect(_ refusal: Refusal) -> Refusal {
    let names = [RequestHeader.account: account.name, RequestHeader.device: device.name]
    guard let name = refusal.field.flatMap({ names[$0] }) else { return refusal }
    var refusal = refusal
    refusal.field = name
    return refusal
  }

  /// Says who connects, and where the feed begins.
  package struct Connect: Sendable {
    package let token: String
    package let after: FeedCursor?
    package let device: DeviceID?
    package let account: AccountID?
    package let wantsCounts: Bool
  }

  package static func connect(of body: [UInt8]) throws(Refusal) -> Connect {
    let (token, after, device, account, counts) = try connectFields.read(
      JSONParser.value(of: body), at: "")
    return Connect(
      token: token, after: after, device: device, account: account, wantsCounts: counts ?? false)
  }
}

/// A request that a client can make by a frame once it is connected. It is the same as a route, with the same body.
package enum SocketRequest: String, CaseIterable, Sendable {
  case send, resend, read, subscribe, unsubscribe

  package var route: Route {
    switch self {
    case .send: NotificationRoutes.send.route
    case .resend: NotificationRoutes.resend.route
    case .read: NotificationRoutes.read.route
    case .subscribe, .unsubscribe: AccountRoutes.changeSubscriptions.route
    }
  }

  /// The fields of the route's body that follow from the word.
  package var preset: JSONObject {
    switch self {
    case .send, .resend, .read: [:]
    case .subscribe: ["subscribe": true]
    case .unsubscribe: ["subscribe": false]
    }
  }

  var meaning: String {
    let without = preset.keys.map { " without `\($0)`" }.joined()
    return "the body of `\(route.verb.rawValue) \(route.path)`\(without)"
  }
}
