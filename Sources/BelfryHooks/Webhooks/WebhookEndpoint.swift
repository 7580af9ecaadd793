package import BelfryModel
package import BelfryOutbound
package import BelfryStore

/// A receiver of copies of notifications, as an app has registered it.
package struct WebhookEndpoint: Sendable, Hashable {
  /// How long a replaced secret signs together with the new one.
  package static let rotationMilliseconds: Int64 = 24 * 3_600_000
  /// How many replaced secrets sign at a time. Each makes the header of signatures longer.
  package static let formerSecretsMax = 4
  package static let countMax = 100

  package let id: EntityID
  package var url: OutboundURL
  /// Nil means all.
  package var types: Set<Int>?
  package var spaces: Set<SpaceID>?
  package var env: String?
  package var format: WebhookFormat
  package var createdAtMilliseconds: Int64
  /// Nil means that copies are delivered.
  package var disabledBecause: DisablingCause?
  package private(set) var secret: WebhookSecret
  /// Secrets that were replaced, the latest first.
  private var formerSecrets: [FormerSecret] = []

  package enum DisablingCause: String, Sendable {
    /// The receiver answered 410.
    case gone
    /// Nothing could be delivered for days.
    case failing
    /// A caller disabled it.
    case asked
  }

  private struct FormerSecret: Sendable, Hashable {
    var secret: WebhookSecret
    var untilMilliseconds: Int64
  }

  package init(id: EntityID, url: OutboundURL, format: WebhookFormat, nowMilliseconds: Int64) {
    self.id = id
    self.url = url
    self.format = format
    createdAtMilliseconds = nowMilliseconds
    secret = .random()
  }

  /// From when on the secret can be replaced; nil: at once. A secret that its receiver was promised for a day must not go
  /// earlier because others came after it.
  package func rotatesNotBefore(nowMilliseconds now: Int64) -> Int64? {
    let good = goodFormerSecrets(nowMilliseconds: now)
    return good.count < Self.formerSecretsMax ? nil : good.last?.untilMilliseconds
  }

  package mutating func rotate(nowMilliseconds now: Int64) {
    let former = FormerSecret(secret: secret, untilMilliseconds: now + Self.rotationMilliseconds)
    formerSecrets = [former] + goodFormerSecrets(nowMilliseconds: now)
    secret = .random()
  }

  /// The latest first.
  package func secrets(nowMilliseconds now: Int64) -> [WebhookSecret] {
    [secret] + goodFormerSecrets(nowMilliseconds: now).map(\.secret)
  }

  private func goodFormerSecrets(nowMilliseconds now: Int64) -> [FormerSecret] {
    formerSecrets.filter { now < $0.untilMilliseconds }
  }

  /// True if the endpoint wants the copy. Only the space of a recall is known, so it is told to all endpoints that may have
  /// had the notification.
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
    if let disabledBecause { members["disabled"] = .string(disabledBecause.rawValue) }
    if !formerSecrets.isEmpty {
      members["formerSecrets"] = .array(
        formerSecrets.map { former -> JSONValue in
          ["secret": .string(former.secret.text), "until": .integer(former.untilMilliseconds)]
        })
    }
    return RecordJSON.text(.object(members))
  }

  /// Nil if the text is not one that this code writes.
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
    if case .string(let word)? = members["disabled"] { disabledBecause = DisablingCause(rawValue: word) }
    if case .array(let former)? = members["formerSecrets"] {
      formerSecrets = former.compactMap { value in
        guard case .object(let members) = value, case .string(let text)? = members["secret"],
          let secret = WebhookSecret(text), case .integer(let until)? = members["until"]
        else { return nil }
        return FormerSecret(secret: secret, untilMilliseconds: until)
      }
    }
  }
}
