import BelfryModel
import Testing

@testable import BelfryInterface
@testable import BelfryServer

/// One place with all its people, in which nothing else is done. `owner`, `admin`, `member`, `muted` and
/// `target` belong to it; `stranger` and `guest` do not. A private channel has only the owner and `target`,
/// although all of these belong to its server.
final class AccessWorld {
  let place: AccessPlace
  private let broker: TestBroker
  private let number: Int
  private let app: String
  /// The values for the parameters of paths.
  private(set) var ids: [String: String] = [:]

  init(_ place: AccessPlace, _ number: Int, _ broker: TestBroker) throws {
    self.place = place
    self.number = number
    self.broker = broker
    app = try broker.token("app", .app)
    ids["accid"] = name("target")
    ids["deviceId"] = "phone"
    if place == .anywhere {
      let key = try broker.ask(
        "POST", "/v1/keys", as: try broker.token("operator", .operation), #"{"name":"k"}"#)
      ids["keyId"] = try #require(key.json["keyId"]?.text)
    }
    switch place {
    case .anywhere, .direct: break
    case .server, .publicChannel, .privateChannel: try makeServer()
    case .publicGroup, .privateGroup: try makeGroup()
    case .room: try makeRoom()
    }
    ids["messageServerId"] = try make(
      "POST", "/v1/notifications", for: "owner", .object(receivers.merging(["body": "ding"])))[
        "messageServerId"]?
      .text
  }

  func name(_ person: String) -> String { "\(person)\(number)" }

  /// The fields of a send to this place.
  var receivers: JSONObject {
    switch place {
    case .anywhere, .direct: ["toAccids": .array([.string(name("target"))])]
    case .server: id("serverId")
    case .publicChannel, .privateChannel: id("serverId").merging(id("channelId"))
    case .publicGroup, .privateGroup: id("groupId")
    case .room: id("roomId")
    }
  }

  private func id(_ name: String) -> JSONObject { [name: .string(ids[name] ?? "")] }

  // MARK: Asking

  /// Sends a request on its own connection, as all requests here. The broker closes a connection that was
  /// idle for 75 s, and on a busy machine a place is used for longer.
  func ask(_ route: Route, by caller: AccessCaller) throws -> Int {
    var path = route.path.description
    for (name, id) in ids { path = path.replacing("{\(name)}", with: id) }
    if path.hasSuffix("/explain") { path += "?account=\(name("target"))" }
    let token: String? =
      switch caller {
      case .nobody: nil
      case .app: app
      case .operator: try broker.token("operator", .operation)
      default: try broker.token(name(caller.rawValue))
      }
    var headers = caller == .app || caller == .operator ? [("Belfry-Account", name("stranger"))] : []
    if route.body.form == .lines { headers.append(("Content-Type", "application/x-ndjson")) }
    let body = AccessBody.of(route, self).map { JSONText.bytes(of: $0) }
    let connection = try broker.connect()
    connection.begin(route.verb.rawValue, path, as: token, body, headers: headers)
    // A stream does not end, and the connection of a caller without a token is closed.
    let hasBody = caller != .nobody && !route.path.description.hasSuffix("/stream")
    return try connection.answer(hasBody: hasBody).status
  }

  /// Sends a request as a trusted caller on behalf of a person.
  @discardableResult
  private func make(
    _ verb: String, _ path: String, for person: String, _ body: JSONValue? = nil
  ) throws -> JSONValue {
    let connection = try broker.connect()
    connection.begin(
      verb, path, as: app, body.map { JSONText.bytes(of: $0) }, headers: [("Belfry-Account", name(person))])
    let answer = try connection.answer()
    try #require(answer.status < 300, "\(verb) \(path): \(answer.body)")
    return answer.json
  }

  private func names(_ people: String...) -> JSONValue { .array(people.map { .string(name($0)) }) }

  // MARK: Making

  private func makeServer() throws {
    let server = try #require(
      try make("POST", "/v1/servers", for: "owner", ["name": "Tower"])["serverId"]?.text)
    ids["serverId"] = server
    let path = "/v1/servers/\(server)"
    try make(
      "POST", path + "/members", for: "owner",
      ["accids": names("admin", "member", "muted", "target", "late")])
    try make("PUT", path + "/admins/\(name("admin"))", for: "owner")
    ids["code"] = try make("POST", path + "/invite-codes", for: "owner")["code"]?.text
    guard place.isChannel else {
      try make("PATCH", path, for: "owner", ["applyMode": 1])
      try askIntoServer(path)
      return
    }
    let isPrivate = place == .privateChannel
    let channel = try #require(
      try make(
        "POST", path + "/channels", for: "owner",
        [
          "name": "ropes", "type": isPrivate ? "private" : "public", "membership": "roster",
          "members": isPrivate ? names("target") : names("target", "admin", "member", "muted"),
        ])["channelId"]?.text)
    ids["channelId"] = channel
    if !isPrivate {
      try make(
        "POST", path + "/channels/\(channel)/mutes", for: "owner",
        ["accids": names("muted"), "durationSeconds": 3_600])
    }
    let invited = try make(
      "POST", path + "/channels/\(channel)/invitations", for: "owner", ["accids": names("late")])
    ids["requestId"] = invited["invitations"]?[0]?["requestId"]?.text
  }

  private var applicationID: String?
  private var invitationID: String?

  private func askIntoServer(_ path: String) throws {
    let invited = try make("POST", path + "/invitations", for: "owner", ["accids": names("invited")])
    invitationID = invited["invitations"]?[0]?["requestId"]?.text
    applicationID = try make("POST", path + "/applications", for: "applicant")["requestId"]?.text
  }

  private func makeGroup() throws {
    let style = place == .privateGroup ? "privateMembersInvite" : "publicApproval"
    let group = try #require(
      try make(
        "POST", "/v1/groups", for: "owner",
        [
          "name": "Ringers", "style": .string(style), "inviteNeedConfirm": false,
          "invitees": names("admin", "member", "muted", "target"),
        ])["groupId"]?.text)
    ids["groupId"] = group
    let path = "/v1/groups/\(group)"
    try make("PATCH", path, for: "owner", ["inviteNeedConfirm": true])
    try make("PUT", path + "/admins/\(name("admin"))", for: "owner")
    try make(
      "POST", path + "/mutes", for: "owner", ["accids": names("muted"), "durationSeconds": 3_600])
    ids["fileId"] = try make(
      "POST", path + "/files", for: "owner",
      ["name": "score", "url": "https://bells.example/score", "size": 7])["fileId"]?.text
    let invited = try make("POST", path + "/invitations", for: "owner", ["accids": names("invited")])
    invitationID = invited["asked"]?[0]?["requestId"]?.text
    applicationID = invitationID
    if place == .publicGroup {
      applicationID = try make("POST", path + "/applications", for: "applicant")["requestId"]?.text
    }
  }

  private func makeRoom() throws {
    let room = try #require(
      try make("POST", "/v1/rooms", for: "owner", ["subject": "Practice"])["roomId"]?.text)
    ids["roomId"] = room
    let path = "/v1/rooms/\(room)"
    for person in ["admin", "member", "muted", "target"] {
      try make("POST", path + "/attendees", for: person)
    }
    ids["token"] = try make(
      "POST", path + "/stage", for: "owner", ["accid": .string(name("target"))])["token"]?.text
  }

  /// Selects the request that a route is about: an invitation or an application.
  func take(requestOf route: Route) {
    let path = route.path.description
    if path.contains("/applications/") { ids["requestId"] = applicationID }
    if path.contains("/invitations/"), !place.isChannel { ids["requestId"] = invitationID }
  }
}
