package import BelfryModel
package import BelfryOutbound
package import BelfryStore

/// Where copies of notifications go, as an app has registered it.
package struct WebhookEndpoint: Sendable, Hashable {
  /// How long a secret that was replaced signs beside the new one.
  package static let rotationMilliseconds: Int64 = 24 * 3_600_000
  package static let countMax = 100

  package let id: EntityID
  package var url: OutboundURL
  /// nil: all.
  package var types: Set<Int>?
  package var spaces: Set<SpaceID>?
  package var env: String?
  package var format: WebhookFormat
  package var createdAtMilliseconds: Int64
  package private(set) var secret: WebhookSecret
  private var former: WebhookSecret?
  private var formerUntilMilliseconds: Int64 = 0

  package init(id: EntityID, url: OutboundURL, format: WebhookFormat, nowMilliseconds: Int64) {
    self.id = id
    self.url = url
    self.format = format
    createdAtMilliseconds = nowMilliseconds
    secret = .random()
  }

  package mutating func rotate(nowMilliseconds: Int64) {
    former = secret
    formerUntilMilliseconds = nowMilliseconds + Self.rotationMilliseconds
    secret = .random()
  }

  /// The new one first.
  package func secrets(nowMilliseconds: Int64) -> [WebhookSecret] {
    guard let former, nowMilliseconds < formerUntilMilliseconds else { return [secret] }
    return [secret, former]
  }

  /// Of a recall nothing but the space is known, so it is told to all that may have had the notification.
  package func wants(_ copy: EntryCopy) -> Bool {
    let isOfSpace = spaces?.contains(copy.space) ?? true
    if copy.isRecall { return isOfSpace }
    return isOfSpace && NotificationContent(json: copy.content).map(wants) ?? false
  }

  private func wants(_ content: NotificationContent) -> Bool {
    content.setting.routeEnable && types?.contains(content.type) ?? true
      && (env == nil || env == content.env ?? CallbackSettings.envStandard)
  }
}

// MARK: - As it is kept

extension WebhookEndpoint {
  package var record: String {
    var members: JSONObject = [
      "url": .string(url.text), "format": .string(format.rawValue),
      "createdAt": .integer(createdAtMilliseconds), "secret": .string(secret.text),
    ]
    if let types { members["types"] = .array(types.sorted().map { .integer(Int64($0)) }) }
    if let spaces { members["spaces"] = .array(spaces.map(\.key).sorted().map { .string($0) }) }
    if let env { members["env"] = .string(env) }
    if let former {
      members["formerSecret"] = .string(former.text)
      members["formerUntil"] = .integer(formerUntilMilliseconds)
    }
    return RecordJSON.text(.object(members))
  }

  /// Nil if nobody can have written it so.
  package init?(id: String, record: String) {
    guard let id = EntityID(id), case .object(let members)? = RecordJSON.value(record),
      case .string(let url)? = members["url"], let url = OutboundURL(url),
      case .string(let word)? = members["format"], let format = WebhookFormat(rawValue: word),
      case .integer(let createdAt)? = members["createdAt"],
      case .string(let secret)? = members["secret"], let secret = WebhookSecret(secret)
    else { return nil }
    (self.id, self.url, self.format, self.secret) = (id, url, format, secret)
    createdAtMilliseconds = createdAt
    if case .array(let types)? = members["types"] {
      self.types = Set(types.compactMap { if case .integer(let type) = $0 { Int(type) } else { nil } })
    }
    if case .array(let spaces)? = members["spaces"] {
      self.spaces = Set(
        spaces.compactMap { if case .string(let key) = $0 { SpaceID(key: key) } else { nil } })
    }
    if case .string(let env)? = members["env"] { self.env = env }
    if case .string(let former)? = members["formerSecret"], case .integer(let until)? = members["formerUntil"]
    {
      self.former = WebhookSecret(former)
      formerUntilMilliseconds = until
    }
  }
}
