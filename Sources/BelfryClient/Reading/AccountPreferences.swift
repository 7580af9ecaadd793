import BelfryInterface

/// What an account wants to hear of a space, of some types, of both, or of everything.
public struct AccountPreference: Sendable, Hashable, Codable {
  public enum Level: String, Sendable, Hashable, Codable, CaseIterable {
    case all
    /// Only what names the account or is about it.
    case parties
    case none
  }

  /// Such as `server:7`; nil: everywhere.
  public var space: String?
  /// The codes of types; nil: all.
  public var types: [Int]?
  public var level: Level
  /// When it ends, milliseconds since 1970; nil: never.
  public var until: Int64?

  public init(space: String? = nil, types: [Int]? = nil, level: Level, until: Int64? = nil) {
    self.space = space
    self.types = types
    self.level = level
    self.until = until
  }
}

struct AccountPreferences: Codable { var preferences: [AccountPreference] }

extension BelfryClient {
  /// What the account wants to hear.
  public func preferences() async throws(BelfryError) -> [AccountPreference] {
    try await value(AccountPreferences.self, HTTPRequest(AccountRoutes.preferences.route)).preferences
  }

  /// Says what the account wants to hear, in the place of all that was said before.
  public func setPreferences(_ preferences: [AccountPreference]) async throws(BelfryError) {
    var request = HTTPRequest(AccountRoutes.prefer.route, isRepeatable: true)
    request.body = try Self.encode(AccountPreferences(preferences: preferences))
    _ = try await answer(request)
  }
}
