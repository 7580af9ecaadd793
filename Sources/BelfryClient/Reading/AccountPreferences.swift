import BelfryInterface

/// A wish of an account to hear more or less: of one space, of some types, of both, or of everything.
///
/// ```swift
/// // Until tonight, only what concerns the account itself in server 7.
/// let tonight = Int64(Date.now.timeIntervalSince1970 * 1_000) + 12 * 3_600_000
/// try await client.setPreferences([
///   AccountPreference(space: "server:7", level: .parties, until: tonight)
/// ])
/// ```
///
/// The most specific preference applies: one with a space goes before one with types, and one with both goes before either.
public struct AccountPreference: Sendable, Hashable, Codable {
  /// How much the account wants to hear.
  ///
  /// ```swift
  /// let muted = AccountPreference(space: "group:9", level: .none)
  /// ```
  public enum Level: String, Sendable, Hashable, Codable, CaseIterable {
    /// Everything.
    case all
    /// Only notifications that name the account or are about it.
    case parties
    /// Nothing.
    case none
  }

  /// The space that it is about: `server:7`, `group:9`, `room:3`, or `account:alice` for what is sent to alice alone or with
  /// others. Nil means everywhere.
  public var space: String?
  /// The codes of the types that it is about. Nil means all types.
  public var types: [Int]?
  /// How much the account wants to hear of it.
  public var level: Level
  /// When the preference ends, in milliseconds since 1970. Nil means never.
  public var until: Int64?

  /// Makes a preference. Nothing is sent before ``BelfryClient/setPreferences(_:)``.
  public init(space: String? = nil, types: [Int]? = nil, level: Level, until: Int64? = nil) {
    self.space = space
    self.types = types
    self.level = level
    self.until = until
  }
}

struct AccountPreferences: Codable { var preferences: [AccountPreference] }

extension BelfryClient {
  /// Fetches the preferences of the account. Those that have ended are left out.
  public func preferences() async throws(BelfryError) -> [AccountPreference] {
    try await value(AccountPreferences.self, HTTPRequest(AccountRoutes.preferences.route)).preferences
  }

  /// Replaces all preferences of the account, on all its devices. At most 100. An empty list wants to hear everything.
  ///
  /// - Throws: ``BelfryError/Code/invalidField`` for a preference that is not valid, such as one with an unknown type or
  ///   with a type that cannot be muted; ``BelfryError/Code/conflict`` if other devices kept changing them: try again.
  public func setPreferences(_ preferences: [AccountPreference]) async throws(BelfryError) {
    var request = HTTPRequest(AccountRoutes.prefer.route, isRepeatable: true)
    request.body = try Self.encode(AccountPreferences(preferences: preferences))
    _ = try await answer(request)
  }
}
