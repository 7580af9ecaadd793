import BelfryModel

@testable import BelfryInterface
@testable import BelfryServer

/// Makes bodies of requests: the examples of the document, with the people of the place in them.
enum AccessBody {
  private static let schemas = JSONSchema(root: OpenAPIDocument.value)

  static func of(_ route: Route, _ world: AccessWorld) -> JSONValue? {
    let send = JSONValue.object(world.receivers.merging(["body": "ding", "messageClientId": "again"]))
    switch route.name {
    case "notification send", "notification batch", "notification resend": return send
    case "notification update": return ["body": "dong"]
    case "channel create": return ["name": "bells", "type": "public", "membership": "roster"]
    case "group create": return ["name": "Ringers", "style": "publicOpen"]
    case "server update", "group update", "channel update": return ["name": "Spire"]
    case "account prefer": return ["preferences": [["level": "all"]]]
    case "account put-pusher":
      return ["kind": "matrix", "url": "https://push.example", "appId": "a", "pushkey": "k"]
    case "account update": return ["mayWrite": "nobody"]
    case "notification read": return ["items": [["messageServerId": "1"]]]
    default: break
    }
    let schema = OpenAPIDocument.value["paths"]?[route.path.description]?[route.verb.rawValue.lowercased()]?[
      "requestBody"]?["content"]?["application/json"]?["schema"]
    guard let schema, case .object(let members) = schemas.sample(schema) else { return nil }
    let target = JSONValue.string(world.name("target"))
    let invited = JSONValue.string(
      world.name(route.path.description.contains("{channelId}") ? "late" : "guest"))
    let isInviting = route.path.description.hasSuffix("/invitations") || route.name == "server add"
    var people: JSONObject = ["accid": target, "accids": [isInviting ? invited : target]]
    people["code"] = world.ids["code"].map { .string($0) }
    return .object(members.merging(people.filter { members[$0.key] != nil }))
  }
}
