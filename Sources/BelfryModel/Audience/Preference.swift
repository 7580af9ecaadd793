/// The notifications that an account wants, for a space, for some types, for both, or for everything.
package struct Preference: Sendable, Hashable, Codable {
  package enum Level: String, Sendable, Hashable, Codable, CaseIterable {
    case all
    /// Only notifications that concern the account: they name it as a receiver, or are about it.
    case parties
    case none
  }

  /// Nil: every space. The account's personal space represents all that is sent to the account itself, direct
  /// messages included.
  package var space: SpaceID?
  /// The codes of types; nil: every type.
  package var types: [Int]?
  package var level: Level
  /// The time at which it ends, milliseconds since 1970; nil: never.
  package var until: Int64?

  package init(space: SpaceID? = nil, types: [Int]? = nil, level: Level, until: Int64? = nil) {
    self.space = space
    self.types = types
    self.level = level
    self.until = until
  }

  package func hasEnded(nowMilliseconds now: Int64) -> Bool { until.map { $0 <= now } ?? false }

  private enum CodingKeys: CodingKey { case space, types, level, until }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    types = try fields.decodeIfPresent([Int].self, forKey: .types)
    level = try fields.decode(Level.self, forKey: .level)
    until = try fields.decodeIfPresent(Int64.self, forKey: .until)
    guard let key = try fields.decodeIfPresent(String.self, forKey: .space) else { return }
    guard let space = SpaceID(key: key) else {
      throw DecodingError.dataCorruptedError(forKey: .space, in: fields, debugDescription: "no space")
    }
    self.space = space
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(space?.key, forKey: .space)
    try fields.encodeIfPresent(types, forKey: .types)
    try fields.encode(level, forKey: .level)
    try fields.encodeIfPresent(until, forKey: .until)
  }
}

/// All preferences of an account, also those that have ended. The preferences are applied when a notification
/// is about to be shown, as they are at that moment. They decide nothing when a notification is sent.
package struct Preferences: Sendable, Hashable {
  package var all: [Preference]
  /// The id of the commit that set them; zero if the account has never set any.
  package var version: MessageID

  package init(_ all: [Preference] = [], version: MessageID = .zero) {
    self.all = all
    self.version = version
  }

  /// True if the account wants a notification.
  /// - Parameters:
  ///   - isConcerned: true if it names the account, or is about it.
  ///   - now: milliseconds since 1970.
  package func want(
    _ type: Int, in space: SpaceID, of account: AccountID, isConcerned: Bool, nowMilliseconds now: Int64
  ) -> Bool {
    switch level(of: type, in: space, of: account, nowMilliseconds: now) {
    case .all: true
    case .parties: isConcerned || cannotBeMuted(type, isConcerned)
    case .none: cannotBeMuted(type, isConcerned)
    }
  }

  /// The level by the most specific preference that has not ended: a space goes before types, and both
  /// together before either.
  package func level(
    of type: Int, in space: SpaceID, of account: AccountID, nowMilliseconds now: Int64
  ) -> Preference.Level {
    let place = space.kind == .direct ? .personal(account) : space
    var best: (rank: Int, level: Preference.Level) = (-1, .all)
    for one in all where !one.hasEnded(nowMilliseconds: now) {
      guard one.space == nil || one.space == place, one.types?.contains(type) ?? true else { continue }
      let rank = (one.space == nil ? 0 : 2) + (one.types == nil ? 0 : 1)
      if rank > best.rank { best = (rank, one.level) }
    }
    return best.level
  }

  private func cannotBeMuted(_ type: Int, _ isConcerned: Bool) -> Bool {
    switch Catalogue.type(type)?.critical ?? .nobody {
    case .nobody: false
    case .parties: isConcerned
    case .everybody: true
    }
  }

  /// The preferences that have not ended.
  package func current(nowMilliseconds now: Int64) -> [Preference] {
    all.filter { !$0.hasEnded(nowMilliseconds: now) }
  }

  /// The next time at which everything is to be shown again because a preference has ended; nil if none will end. If others
  /// end soon after it, it is the end of the last of these: a list of a hundred ends would otherwise have every stream show
  /// everything a hundred times.
  package func nextEnd(after now: Int64) -> Int64? {
    let ends = all.compactMap(\.until).filter { $0 > now }
    guard let first = ends.min() else { return nil }
    return ends.filter { $0 - first <= Self.endsTogetherMilliseconds }.max()
  }

  /// Nobody notices if what a preference hid comes so much later.
  package static let endsTogetherMilliseconds: Int64 = 10_000

  /// The latest change of the preferences: the account changed them, or one has ended. A reader that has
  /// taken everything up to this id into account follows the present ones.
  package func lastChange(nowMilliseconds now: Int64) -> MessageID {
    let ended = all.compactMap(\.until).filter { $0 <= now }.max()
    return max(version, ended.map { MessageID(firstAtUnixMilliseconds: $0) } ?? .zero)
  }
}

extension Audience {
  /// True if the entry names the account as a receiver, or is about it. The owner and the admins who are
  /// named because they see a private channel do not count.
  package func concerns(_ account: AccountID) -> Bool { rule != .viewers && named.contains(account) }
}

extension Preference {
  /// The preference in the form that clients see.
  package var info: JSONValue {
    var members: JSONObject = ["level": .string(level.rawValue)]
    if let space { members["space"] = .string(space.key) }
    if let types { members["types"] = .array(types.map { .integer(Int64($0)) }) }
    if let until { members["until"] = .integer(until) }
    return .object(members)
  }
}

// MARK: - The record

// `<id of the commit> <JSON>`, the id as a stream id.
extension Preferences {
  package init?(text: String) {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let version = MessageID(streamForm: String(parts[0])),
      let all = RecordJSON.value([Preference].self, String(parts[1]))
    else { return nil }
    self.init(all, version: version)
  }

  /// The text with which a commit makes these the preferences.
  static func text(_ all: [Preference]) throws(Refusal) -> String {
    try MessageID.endOfThisCommit.streamForm + " " + RecordJSON.text(all)
  }
}

extension RecordAddress {
  package static func preferences(of account: AccountID) -> Self {
    Self(.personal(account), .settings, "preferences")
  }
}

extension Records {
  package func preferences(of account: AccountID) throws(Refusal) -> Preferences {
    let address = RecordAddress.preferences(of: account)
    guard let text = text(address) else { return Preferences() }
    guard let preferences = Preferences(text: text) else { throw unreadable(address) }
    return preferences
  }
}
