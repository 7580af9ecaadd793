@testable import BelfryInterface
@testable import BelfryServer

/// The place in which an operation is tried.
enum AccessPlace: String, CaseIterable {
  case anywhere = ""
  case server
  case publicChannel = "public channel"
  case privateChannel = "private channel"
  case publicGroup = "public group"
  case privateGroup = "private group"
  case room
  /// A notification to `target` alone.
  case direct

  /// The places of a route.
  static func all(of route: Route) -> [AccessPlace] {
    let path = route.path.description
    if route.name == "notification send" {
      return [.server, .publicChannel, .privateChannel, .publicGroup, .privateGroup, .room, .direct]
    }
    if path.contains("{channelId}") { return [.publicChannel, .privateChannel] }
    if path.contains("{messageServerId}") {
      return [.server, .publicChannel, .privateChannel, .publicGroup, .privateGroup, .room, .direct]
    }
    if path.contains("{serverId}") { return [.server] }
    if path.contains("{groupId}") { return [.publicGroup, .privateGroup] }
    if path.contains("{roomId}") { return [.room] }
    return [.anywhere]
  }

  var isChannel: Bool { self == .publicChannel || self == .privateChannel }
  var isGroup: Bool { self == .publicGroup || self == .privateGroup }
}

/// The kind of caller.
enum AccessCaller: String, CaseIterable {
  case nobody = "no token"
  case stranger, member
  case muted
  case admin, owner
  /// A trusted caller, on behalf of the stranger.
  case app
  /// An operator, on behalf of the stranger.
  case `operator`
}
