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

  /// The type that back ends announce under the code; nil if they announce none under it.
  package static func announcedType(_ code: Int) -> NotificationType? {
    announced.first { $0.code == code }
  }
}
