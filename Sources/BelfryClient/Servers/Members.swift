import BelfryInterface
import FoundationEssentials

extension BelfryClient {
  /// A server's members, in no particular but a stable order.
  public func members(
    of server: EntityID, limit: Int? = nil, cursor: String? = nil
  ) async throws(BelfryError) -> Page<Member> {
    var request = HTTPRequest(MemberRoutes.list.route, server.text)
    request.ask("limit", limit.map(String.init))
    request.ask("cursor", cursor)
    let page = try await value(MemberList.self, request)
    return Page(items: page.members, cursor: page.cursor)
  }

  public func member(_ account: AccountID, of server: EntityID) async throws(BelfryError) -> Member {
    try await value(Member.self, HTTPRequest(MemberRoutes.show.route, server.text, account.text))
  }

  /// Adds accounts at once and without asking them; for app and operator tokens. Up to 1,000 in one call;
  /// who is a member already stays as they are.
  /// - Returns: the accounts that were added.
  @discardableResult
  public func addMembers(
    _ accounts: [AccountID], to server: EntityID
  ) async throws(BelfryError) -> [AccountID] {
    var request = HTTPRequest(MemberRoutes.add.route, server.text)
    request.body = try Self.encode(Addition(accids: accounts))
    return try await value(Added.self, request).added
  }

  /// Kicks a member, or leaves when it is the account itself.
  public func removeMember(_ account: AccountID, from server: EntityID) async throws(BelfryError) {
    try await answer(HTTPRequest(MemberRoutes.remove.route, server.text, account.text))
  }

  private struct MemberList: Decodable {
    var members: [Member]
    var cursor: String?
  }

  private struct Addition: Encodable { var accids: [AccountID] }
  private struct Added: Decodable { var added: [AccountID] }
}

/// A member of a server.
public struct Member: Sendable, Hashable, Codable {
  public var accid: AccountID
  public var role: MemberRole
  /// To the server's own notifications; channels have subscriptions of their own.
  public var subscribed: Bool
}
