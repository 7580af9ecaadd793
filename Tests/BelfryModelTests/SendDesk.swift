import BelfryModel
import ModelSamples

/// Server 1 with a channel of everyone's (10) and one with a roster (11), group 5, group 6 where all are
/// muted, room 7.
///
/// `ada` owns or hosts them all. Plain members everywhere, and in channel 11's roster: `mia`; `max`, who is
/// muted in every place with mutes; `ben`, who is blocked from both channels and allow-listed in the groups;
/// and `old`, whose mutes are over. `eve` is a plain member everywhere and not in channel 11.
struct SendDesk {
  static let server = SpaceID.server(1)
  static let groups: [SpaceID] = [.group(5), .group(6)]
  static let room = SpaceID.room(7)

  static func desk() throws -> Desk {
    var desk = try Desk()
    let now = desk.nowMilliseconds
    let serverRecord = ServerRecord(name: "Tower", owner: "ada", createdAt: now, defaultChannelId: 10)
    desk.texts[.settings(server)] = try RecordJSON.text(serverRecord)
    for (id, membership) in [(10, .everyone), (11, .roster)] as [(EntityID, ChannelRecord.Membership)] {
      let channel = ChannelRecord(name: "ropes", type: .public, membership: membership, createdAt: now)
      desk.texts[.channel(id, of: server)] = try RecordJSON.text(channel)
    }
    for group in groups {
      var record = GroupRecord(
        name: "Ringers", style: .publicOpen, owner: "ada", createdAt: now, maxMembers: 100)
      record.isAllMuted = group == .group(6)
      desk.texts[.settings(group)] = try RecordJSON.text(record)
    }
    desk.texts[.settings(room)] = try RecordJSON.text(
      RoomRecord(subject: "Bells", host: "ada", createdAt: now))
    for account in ["ada", "mia", "max", "ben", "old", "eve"] as [AccountID] {
      for space in [server, room] + groups { fill(&desk, space, account) }
    }
    return desk
  }

  private static func fill(_ desk: inout Desk, _ space: SpaceID, _ account: AccountID) {
    let isOwner = account == "ada"
    let role: MemberRole =
      space.kind == .room ? (isOwner ? .host : .listener) : (isOwner ? .owner : .member)
    var member = MemberRecord(role: role, membership: Membership(intervals: .since(.zero)))
    if space.kind == .server {
      if account != "eve" { member.membership.channels[11] = .init(intervals: .since(.zero)) }
      if account == "ben" {
        for id in [10, 11] as [EntityID] {
          member.membership.channels[id, default: .init()].blocked = .since(.zero)
        }
      }
    }
    let mutedUntil = ["max": desk.nowMilliseconds + 1, "old": desk.nowMilliseconds][account.text]
    if space.kind == .server {
      for id in [10, 11] as [EntityID] { member.channelMutes[id] = mutedUntil }
    } else if space.kind == .group {
      member.rights = .init(mutedUntilMilliseconds: mutedUntil, isAllowListed: account == "ben")
    }
    desk.texts[.member(account, of: space)] = member.text
  }
}
