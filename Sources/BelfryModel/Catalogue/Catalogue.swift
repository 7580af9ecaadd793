/// Every type of notification, a row each: the one table that the code, `belfry types`, the
/// documentation and the tests come from. Adding a type is adding a row.
package enum Catalogue {
  package static let serverCreate = NotificationType(
    5, "serverCreate", attach: ["serverInfo"], parties: "the creator")
  package static let serverRemove = NotificationType(
    6, "serverRemove", parties: "the owner", others: .everyMember)
  package static let serverUpdate = NotificationType(
    7, "serverUpdate", attach: ["serverInfo"], others: .members)
  package static let serverMemberInviteDone = NotificationType(
    8, "serverMemberInviteDone", attach: ["serverInfo", "invitedAccids", "requestId"], parties: "the added",
    others: .members)
  package static let serverMemberKickDone = NotificationType(
    12, "serverMemberKickDone", attach: ["serverInfo", "kickedAccids"], parties: "the kicked",
    others: .members)
  package static let serverMemberLeaveDone = NotificationType(
    13, "serverMemberLeaveDone", attach: ["serverInfo"], parties: "the leaver", others: .members)
  package static let channelCreate = NotificationType(
    15, "channelCreate", attach: ["channelInfo"], others: .channel)
  package static let channelRemove = NotificationType(16, "channelRemove", others: .channel)
  package static let channelUpdate = NotificationType(
    17, "channelUpdate", attach: ["channelInfo"], others: .channel)
  package static let channelVisibilityUpdate = NotificationType(
    31, "channelVisibilityUpdate", attach: ["event"],
    parties: "who can now see, or no longer see, the channel",
    others: .everyoneInChannel)
  package static let serverEnterLeave = NotificationType(
    32, "serverEnterLeave", attach: ["event"], parties: "the account that entered or left")
  package static let custom = NotificationType(100, "custom", others: .asSent, mayBeUpdated: true)

  package static let all: [NotificationType] = [
    serverCreate, serverRemove, serverUpdate, serverMemberInviteDone, serverMemberKickDone,
    serverMemberLeaveDone, channelCreate, channelRemove, channelUpdate, channelVisibilityUpdate,
    serverEnterLeave, custom,
  ]

  package static func type(_ code: Int) -> NotificationType? { byCode[code] }

  private static let byCode = Dictionary(uniqueKeysWithValues: all.map { ($0.code, $0) })
}
