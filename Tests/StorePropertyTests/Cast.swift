import BelfryModel
import ModelSamples

/// Who and what a walk is about. Steps name them by number, so that a walk means the same on any store.
struct Cast {
  static let accountCount = 12
  static let serverCount = 5
  /// The first is the one that a server begins with.
  static let channelsPerServer = 4

  let accounts: [AccountID]
  let servers: [EntityID]

  /// Two of the servers share a partition and one shares that of an account, so that ids are allotted to
  /// one between two of another.
  init() {
    accounts = (0..<Self.accountCount).compactMap { AccountID("a\($0)") }
    let candidates = (1...20_000).compactMap { EntityID(Int64($0)) }
    let personal = SpaceID.personal(accounts[0]).partition
    let withAccount = candidates.first { SpaceID.server($0).partition == personal }
    let twin = candidates.dropFirst().first {
      SpaceID.server($0).partition == SpaceID.server(candidates[0]).partition
    }
    servers = [candidates[0], twin, withAccount, candidates[1], candidates[2]].compactMap(\.self)
  }

  func channel(_ channel: Int, of server: Int) -> EntityID {
    EntityID(servers[server].number * 100 + Int64(channel)) ?? servers[server]
  }

  var channels: [EntityID] {
    servers.indices.flatMap { server in (0..<Self.channelsPerServer).map { channel($0, of: server) } }
  }

  /// Low, so that a walk crosses them often.
  static let limits: Limits = {
    var limits = Limits()
    limits.subscriptionThreshold = 5
    limits.membersPerServer = 8
    limits.channelsPerServer = 3
    limits.serversPerAccount = 4
    return limits
  }()
}
