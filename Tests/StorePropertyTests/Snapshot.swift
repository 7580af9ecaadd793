import BelfryModel
import BelfryStore

// Everything a store can be asked for, as lines that do not depend on its ids and its clock: two stores
// that went through the same say the same lines.
extension World {
  func snapshot() async throws -> [String] {
    var lines: [String] = []
    for server in cast.servers { lines += try await serverLines(.server(server)) }
    var spaces = Set(cast.servers.map(SpaceID.server) + cast.accounts.map(SpaceID.personal))
    for account in cast.accounts {
      lines += try await accountLines(account)
      spaces.formUnion(try await store.index(of: account).map(\.space))
    }
    for space in spaces.sorted(by: { $0.key < $1.key }) { lines += try await logLines(space) }
    lines.append("partitions to relay: \(try await store.partitionsToRelay().map(\.number))")
    let full = try await store.serverCounts(of: cast.accounts).map { $0 >= Cast.limits.serversPerAccount }
    lines.append("has all the servers it may have: \(full)")
    return lines
  }

  // MARK: Accounts

  private func accountLines(_ account: AccountID) async throws -> [String] {
    let index = try await store.index(of: account)
    var lines = index.map { "\(account) is \($0.isMember ? "in" : "out of") \($0.space)" }.sorted()
    for entry in index where entry.addedAt.partition != SpaceID.personal(account).partition {
      throw Broken("\(account) learned of \(entry.space) at \(entry.addedAt), in another partition")
    }
    for server in cast.servers.map(SpaceID.server) where !index.contains(where: { $0.space == server }) {
      guard try await standing(of: account, in: server) == .stranger else {
        throw Broken("\(account) does not know of having been in \(server)")
      }
    }
    let read = try await store.readState(of: account)
    lines.append("\(account) has read \(ids.indices.filter { read.contains(ids[$0]) })")
    for seen in try await feed(of: account) {
      lines.append("\(account) and \(try words(seen.id)) in \(seen.space): \(seen.visibility)")
    }
    return lines
  }

  // MARK: Logs

  private func logLines(_ space: SpaceID) async throws -> [String] {
    let log = try await store.entries([LogRequest(space, after: .zero, limit: 1_000_000)]).first ?? []
    var lines: [String] = []
    var last = MessageID.zero
    for entry in log {
      guard entry.id > last else { throw Broken("\(entry.id) stands after \(last) in \(space)") }
      last = entry.id
      lines.append(
        "\(space) \(try words(entry.id)) to \(entry.audience.text)\(entry.updateTime == nil ? "" : " updated"):"
          + " \(try timeless(entry.contentJSON))")
    }
    let lastID = try await store.lastIDs(of: [space.partition]).first ?? .zero
    guard lastID >= last else { throw Broken("\(space) reaches beyond its partition's last id \(lastID)") }
    if !log.isEmpty, !(try await store.spaces(in: space.partition)).contains(space) {
      throw Broken("\(space) is not listed in its partition")
    }
    try await checkWindow(of: log, space)
    return lines
  }

  /// A stretch of the log is what it is within the whole.
  private func checkWindow(of log: [LogEntry], _ space: SpaceID) async throws {
    guard log.count >= 3 else { return }
    let (after, through) = (log[log.count / 3].id, log[log.count - 2].id)
    let requests = [
      LogRequest(space, after: after, through: through, limit: 1_000),
      LogRequest(space, after: after, through: through, limit: 2),
      LogRequest(space, after: through, through: after, limit: 1_000),
    ]
    let window = log.filter { after < $0.id && $0.id <= through }
    guard try await store.entries(requests) == [window, Array(window.prefix(2)), []] else {
      throw Broken("\(space) from \(after) through \(through) is not what the whole log says")
    }
  }
}
