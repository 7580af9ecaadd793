/// What an account wants to hear of, for a space, for some types, for both, or for everything.
package struct Preference: Sendable, Hashable, Codable {
  package enum Level: String, Sendable, Hashable, Codable, CaseIterable {
    case all
    /// Only what concerns the account: what names it as a receiver, or is about it.
    case parties
    case none
  }

  /// Nil: every space. The account's personal space stands for all that is sent to the account itself, direct messages
  /// included.
  package var space: SpaceID?
  /// The codes of types; nil: every type.
  package var types: [Int]?
  package var level: Level
  /// When it ends, milliseconds since 1970; nil: never.
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

/// All that an account prefers, also what has ended since. What it wants to hear is asked when something is about to be shown, by the preferences of
/// that moment; nothing is decided when something is sent.
package struct Preferences: Sendable, Hashable {
  package var all: [Preference]
  /// The id of the commit by which they became what they are; zero if the account has never said.
  package var version: MessageID

  package init(_ all: [Preference] = [], version: MessageID = .zero) {
    self.all = all
    self.version = version
  }

  /// Whether the account wants to hear of something.
  /// - Parameters:
  ///   - isConcerned: whether it names the account, or is about it.
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

  /// By the most specific one that has not ended: a space goes before types, and both together before either.
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

  /// Those that have not ended.
  package func current(nowMilliseconds now: Int64) -> [Preference] {
    all.filter { !$0.hasEnded(nowMilliseconds: now) }
  }

  /// The first time after which something else holds since one of them has ended; nil if none will.
  package func nextEnd(after now: Int64) -> Int64? { all.compactMap(\.until).filter { $0 > now }.min() }

  /// The latest of what has changed them: the account, or that one has ended. A reader that has taken into account what
  /// was known up to this id goes by the present ones.
  package func lastChange(nowMilliseconds now: Int64) -> MessageID {
    let ended = all.compactMap(\.until).filter { $0 <= now }.max()
    return max(version, ended.map { MessageID(firstAtUnixMilliseconds: $0) } ?? .zero)
  }
}

extension Audience {
  /// Whether the entry names the account as a receiver, or is about it. The owner and the admins who are named beside
  /// those who see a private channel are not.
  package func concerns(_ account: AccountID) -> Bool { rule != .viewers && named.contains(account) }
}

extension Preference {
  /// As clients have it.
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
