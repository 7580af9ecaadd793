// Types that back ends announce for what Belfry does not keep: groups of roles, categories of channels, visitors and quick
// comments. The codes are those of other systems, and so is what stands in `attach`, which Belfry passes on as it is given.

extension Catalogue {
  static let announced: [NotificationType] = [
    announced(18, "channelListUpdateRole"),
    announced(20, "quickCommentUpdate"),
    announced(21, "channelCategoryCreate"),
    announced(22, "channelCategoryRemove"),
    announced(23, "channelCategoryUpdate"),
    announced(24, "channelCategoryListUpdateRole"),
    announced(25, "channelCategoryListUpdateMember"),
    announced(26, "serverRoleMemberAdd"),
    announced(27, "serverRoleMemberRemove"),
    announced(28, "serverRoleUpdate"),
    announced(29, "channelRoleUpdate"),
    announced(30, "memberRoleUpdate"),
    announced(34, "visitorChannelVisibilityUpdate"),
    announced(35, "ownMemberInfoUpdate"),
  ]

  private static func announced(_ code: Int, _ name: String) -> NotificationType {
    NotificationType(code, name, in: .server, parties: "the accids of the announcement", others: .members)
  }

  /// The codes of these types, in ranges without gaps.
  package static let announcedCodes: [ClosedRange<Int>] = announced.map(\.code).reduce(into: []) {
    ranges, code in
    if let last = ranges.last, last.upperBound + 1 == code {
      ranges[ranges.count - 1] = last.lowerBound...code
    } else {
      ranges.append(code...code)
    }
  }

  /// The type that back ends announce under the code.
  package static func announcedType(_ code: Int) throws(Refusal) -> NotificationType {
    guard let type = announced.first(where: { $0.code == code }) else {
      throw .invalid("type", "must be 18, 20 to 30, 34 or 35: the other types come from operations")
    }
    return type
  }
}
