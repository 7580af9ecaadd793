import BelfryModel
import ModelSamples

/// The accounts and spaces of a random walk. Steps name them by number, so that a random walk means the same
/// on any store.
struct Cast {
  static let accountCount = 12
  static let serverCount = 5
  /// Places for servers, for groups, for rooms.
  static let spacesPerScene = 5
  /// Groups and rooms end soon, for ever: in each place so many follow one another.
  static let generations = 3
  /// The first is the one that a server begins with.
  static let channelsPerServer = 4

  let accounts: [AccountID]
  let servers: [EntityID]
  let groups: [EntityID]
  let rooms: [EntityID]

  /// Two of the servers share a partition, as does a group, and one shares that of an account, so that ids
  /// are allotted to one between two of another.
  init() {
    accounts = (0..<Self.accountCount).compactMap { AccountID("a\($0)") }
    let candidates = (1...20_000).compactMap { EntityID(Int64($0)) }
    let personal = SpaceID.personal(accounts[0]).partition
    let withAccount = personal.servers.first { _ in true }
    let twin = SpaceID.server(candidates[0]).partition.servers.first { $0 != candidates[0] }
    servers = [candidates[0], twin, withAccount, candidates[1], candidates[2]].compactMap(\.self)
    let besideServer = candidates.first {
      SpaceID.group($0).partition == SpaceID.server(candidates[0]).partition
    }
    let count = Self.spacesPerScene * Self.generations
    groups = [besideServer].compactMap(\.self) + candidates[10..<(10 + count - 1)]
    rooms = Array(candidates[..<count])
  }

  /// All spaces except the accounts' own.
  var spaces: [SpaceID] {
    servers.map(SpaceID.server) + groups.map(SpaceID.group) + rooms.map(SpaceID.room)
  }

  /// Those that follow one another in a place.
  func spaces(_ kind: SpaceKind, _ place: Int) -> [SpaceID] {
    func generations(_ ids: [EntityID], _ space: (EntityID) -> SpaceID) -> [SpaceID] {
      (0..<Self.generations).map { space(ids[place * Self.generations + $0]) }
    }
    switch kind {
    case .group: return generations(groups, SpaceID.group)
    case .room: return generations(rooms, SpaceID.room)
    case .server, .account, .direct: return [.server(servers[place])]
    }
  }

  /// Nil: a trusted caller.
  func actor(_ account: AccountID?) -> Actor {
    Actor(account: account, device: account == nil ? nil : "phone", isTrusted: account == nil)
  }

  func channel(_ channel: Int, of server: Int) -> EntityID {
    EntityID(servers[server].number * 100 + Int64(channel)) ?? servers[server]
  }

  /// The channels that a server may have; none of other spaces.
  func channels(of space: SpaceID) -> [EntityID] {
    guard let server = servers.firstIndex(where: { SpaceID.server($0) == space }) else { return [] }
    return (0..<Self.channelsPerServer).map { channel($0, of: server) }
  }

  /// Low, so that a random walk crosses them often.
  static let limits: Limits = {
    var limits = Limits()
    limits.subscriptionThreshold = 5
    limits.membersPerServer = 8
    limits.channelsPerServer = 3
    limits.serversPerAccount = 4
    limits.membersPerGroup = 6
    limits.groupsPerAccount = 3
    limits.attendeesPerRoom = 6
    limits.roomsPerAccount = 3
    limits.notificationsPerMailbox = 8
    limits.directMessagesPerMailbox = 4
    limits.unreadPerSender = 3
    // Over before it began: a look finds everybody absent, at any time of the clock.
    limits.absenceMilliseconds = -1_000
    return limits
  }()
}
