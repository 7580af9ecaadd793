import BelfryInterface
import FoundationEssentials

extension BelfryClient {
  /// Lists the members of a server. The order has no meaning, but does not change from page to page.
  ///
  /// - Parameters:
  ///   - server: the server.
  ///   - limit: the most members to return, 1 to 1,000. Nil means 100.
  ///   - cursor: the cursor of the page before. Nil means the first page.
  /// - Throws: ``BelfryError/Code/notFound`` if there is no such server; ``BelfryError/Code/notMember`` if the account is not
  ///   in it; ``BelfryError/Code/invalidField`` if the cursor is no longer valid, as after a restart of Redis: begin with the
  ///   first page again.
  public func members(
    of server: EntityID, limit: Int? = nil, cursor: String? = nil
  ) async throws(BelfryError) -> Page<Member> {
    var request = HTTPRequest(MemberRoutes.list.route, server.text)
    request.ask("limit", limit.map(String.init))
    request.ask("cursor", cursor)
    let page = try await value(MemberList.self, request)
    return Page(items: page.members, cursor: page.cursor)
  }

  /// Fetches one member of a server.
  ///
  /// - Throws: ``BelfryError/Code/notFound`` if there is no such server, or if `account` is not a member of it;
  ///   ``BelfryError/Code/notMember`` if the client's own account is not a member of it.
  public func member(_ account: AccountID, of server: EntityID) async throws(BelfryError) -> Member {
    try await value(Member.self, HTTPRequest(MemberRoutes.show.route, server.text, account.text))
  }

  /// Adds accounts to a server at once, without asking them. Needs the token of an app or an operator. At most 1,000 in one
  /// call. Accounts that are already members stay as they are.
  ///
  /// - Returns: the accounts that were added.
  /// - Throws: ``BelfryError/Code/forbidden`` with the token of a user; ``BelfryError/Code/notFound`` if there is no such
  ///   server; ``BelfryError/Code/banned`` if an account is banned there; ``BelfryError/Code/tooMany`` if the server or an
  ///   account has as many members or servers as it may have.
  @discardableResult
  public func addMembers(
    _ accounts: [AccountID], to server: EntityID
  ) async throws(BelfryError) -> [AccountID] {
    var request = HTTPRequest(MemberRoutes.add.route, server.text)
    request.body = try Self.encode(Addition(accids: accounts))
    return try await value(Added.self, request).added
  }

  /// Removes a member from a server. If it is the client's own account, the account leaves.
  ///
  /// - Throws: ``BelfryError/Code/forbidden`` if the client's account may not remove it; ``BelfryError/Code/notMember`` or
  ///   ``BelfryError/Code/notFound`` if it is not a member.
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
///
/// ```swift
/// let member = try await client.member(alice, of: server)
/// if member.role == .owner { print("alice owns the server") }
/// ```
public struct Member: Sendable, Hashable, Codable {
  /// The account.
  public var accid: AccountID
  /// The role of the account in the server.
  public var role: MemberRole
  /// True if the account subscribes to the server's own notifications. Channels have subscriptions of their own.
  public var subscribed: Bool
}
