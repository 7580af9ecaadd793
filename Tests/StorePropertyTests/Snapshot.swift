import BelfryModel
import BelfryStore
import ModelSamples

// Everything a store can be asked for, as lines that do not depend on its ids and its clock: two stores
// that went through the same say the same lines.
extension World {
  func snapshot() async throws -> [String] {
    for log in try await wholeLogs(of: cast.accounts.map(SpaceID.personal)) { learn(log) }
    var lines = try await tableLines(cast.spaces)
    let waiting = try await store.partitionsToRelay()
    lines += waiting.map { "partition \($0.number) has something to relay" }
    var spaces = Set(cast.spaces + cast.accounts.map(SpaceID.personal))
    for account in cast.accounts {
      let index = try await store.index(of: account)
      lines += try await accountLines(account, index, waiting)
      spaces.formUnion(index.map(\.space))
    }
    lines += try await logLines(spaces.sorted { $0.key < $1.key })
    lines += try await heardLines()
    lines += try await mailboxLines()
    for kind in [SpaceKind.server, .group, .room] {
      let most = Cast.limits.spacesPerAccount(kind)
      let counts = try await store.spaceCounts(of: cast.accounts, in: kind)
      lines.append("has all the \(kind)s it may have: \(counts.map { $0.current >= most })")
      let forced = Cast.limits.forcedSpacesPerAccount(kind)
      lines.append("has all the \(kind)s that others may choose: \(counts.map { $0.known >= forced })")
    }
    for directory in ListingChange.Directory.allCases { lines.append(try await words(directory)) }
    lines += try await store.dueSpaces(nowMilliseconds: Self.longAfterMilliseconds + 1).spaces
      .map { "\($0.space) is due\($0.atMilliseconds > Self.longAfterMilliseconds ? " long after" : "")" }
      .sorted()
    return lines
  }

  private func mailboxLines() async throws -> [String] {
    var lines: [String] = []
    for sender in cast.accounts {
      for (account, level) in zip(
        cast.accounts, try await store.mailboxes(of: cast.accounts, writtenToBy: sender))
      {
        lines.append("\(account) has waiting \(level.entries) and \(level.directMessages) direct messages")
        if level.fromSender > 0 { lines.append("\(account) has \(level.fromSender) from \(sender)") }
      }
    }
    return lines
  }

  /// The listed spaces, without their order: two that one store made in one millisecond another did not. Each
  /// store's own order is checked.
  private func words(_ directory: ListingChange.Directory) async throws -> String {
    var (listed, cursor): ([SpaceID], PageCursor?) = ([], nil)
    repeat {
      let page = try await store.page(of: directory, after: cursor, limit: 2)
      listed += page.spaces
      cursor = page.next
    } while cursor != nil
    let records = try await store.records(listed.map { .settings($0) })
    let times = try listed.map { space in
      guard let text = records.text(.settings(space)), let dates = RecordJSON.value(Dates.self, text) else {
        throw Broken("\(space) is listed in \(directory), and is not there")
      }
      return dates.createdAt
    }
    guard zip(times, times.dropFirst()).allSatisfy({ $0 >= $1 }) else {
      throw Broken("\(directory) is not in the order of \(times)")
    }
    return "listed in \(directory): \(listed.map(\.key).sorted())"
  }

  private struct Dates: Decodable { var createdAt: Int64 }

  // MARK: Accounts

  private func accountLines(_ account: AccountID, _ index: [IndexEntry], _ waiting: [Partition])
    async throws -> [String]
  {
    var lines = try index.map { try words($0, in: index, of: account) }.sorted()
    // The index may not have learned yet of changes that a dead broker left there.
    let unknown = cast.spaces.filter { space in
      !waiting.contains(space.partition) && !index.contains { $0.space == space }
    }
    guard try await memberships(of: account, in: unknown).allSatisfy({ $0 == .never }) else {
      throw Broken("\(account) was in a space that is not in its index")
    }
    let options = RecordAddress.settings(.personal(account))
    lines.append("\(account) chose \(try await store.records([options]).text(options) ?? "nothing")")
    let preferences = try await store.records([.preferences(of: account)]).preferences(of: account)
    lines.append(
      "\(account) prefers \(RecordJSON.text(.array(preferences.all.map(\.info)))) since \(place(of: preferences.version))"
    )
    for (space, record) in zip(cast.spaces, try await store.memberRecords(of: account, in: cast.spaces)) {
      lines.append("\(account) in \(space): \(record?.role.rawValue ?? "nobody")")
    }
    let read = try await store.wholeReadState(of: account)
    let among = try await store.readState(of: account, among: ids)
    // In a space that nobody learned of late.
    let space = SpaceID.room(1)
    guard ids.allSatisfy({ among.contains($0, in: space) == read.contains($0, in: space) }),
      among.lagging == read.lagging, among.version == read.version
    else {
      throw Broken("\(account) has read \(read), and of all ids \(among)")
    }
    lines.append("\(account) has read \(ids.indices.filter { read.contains(ids[$0], in: space) })")
    for (space, id) in read.lagging.sorted(by: { $0.key.key < $1.key.key }) {
      lines.append("\(account) learned late of \(space), since \(place(of: id))")
    }
    lines.append("\(account) counts \(try await counts(of: account, isRelayed: waiting.isEmpty))")
    for seen in try await feed(of: account) {
      lines.append("\(account) and \(try words(seen.id)) in \(seen.space): \(seen.visibility.words)")
    }
    return lines
  }

  private func words(_ entry: IndexEntry, in index: [IndexEntry], of account: AccountID) throws -> String {
    let partition = SpaceID.personal(account).partition
    let learned = try ([entry.state] + entry.earlier).map { known in
      guard known.addedAt.partition == partition else {
        throw Broken("\(account) learned of \(entry.space) at \(known.addedAt), in another partition")
      }
      // The id that the index took is nobody's, so it is told by what it lies between.
      let earlierIDs = ids.count { $0.partition == partition && $0 < known.addedAt }
      let earlierSpaces = index.count { $0.addedAt < known.addedAt }
      return
        "since \(place(of: known.version)), learned after \(earlierIDs) ids and \(earlierSpaces) spaces"
    }
    return
      "\(account) is \(entry.isMember ? "in" : "out of") \(entry.space) \(learned.joined(separator: "; before "))"
  }

  // MARK: Logs

  private func logLines(_ spaces: [SpaceID]) async throws -> [String] {
    let logs = try await wholeLogs(of: spaces)
    for log in logs { learn(log.filter { $0.updates != nil }) }
    let lastIDs = try await store.lastIDs(of: spaces.map(\.partition))
    let ends = try await store.ends(of: spaces)
    var lines: [String] = []
    for ((space, end), (log, lastID)) in zip(zip(spaces, ends), zip(logs, lastIDs)) {
      var last = MessageID.zero
      for entry in log {
        guard entry.id > last else { throw Broken("\(entry.id) stands after \(last) in \(space)") }
        last = entry.id
        lines.append("\(space) \(try words(entry))")
      }
      // A reader leaves a log alone that ends before it: what it says of its end must never be too low.
      guard end.allotted == lastID, end.appended >= last, end.appended <= lastID else {
        throw Broken("\(space) ends at \(last), and says \(end) with \(lastID) the last of its partition")
      }
      guard lastID >= last else { throw Broken("\(space) reaches beyond its partition's last id \(lastID)") }
    }
    try await checkWindows(spaces, logs)
    for (space, log) in zip(spaces, logs) { try await checkLocated(log, in: space) }
    return lines
  }

  /// A stretch of a log is what it is within the whole.
  private func checkWindows(_ spaces: [SpaceID], _ logs: [[LogEntry]]) async throws {
    var requests: [LogRequest] = []
    var answers: [[LogEntry]] = []
    for (space, log) in zip(spaces, logs) where log.count >= 3 {
      let (after, through) = (log[log.count / 3].id, log[log.count - 2].id)
      let window = log.filter { after < $0.id && $0.id <= through }
      requests += [
        LogRequest(space, after: after, through: through, limit: 1_000),
        LogRequest(space, after: after, through: through, limit: 2),
        LogRequest(space, after: through, through: after, limit: 1_000),
      ]
      answers += [window, Array(window.prefix(2)), []]
    }
    let said = try await store.entries(requests)
    for (request, (wanted, got)) in zip(requests, zip(answers, said)) where wanted != got {
      throw Broken("\(request) is not what the whole log says")
    }
  }

  /// A caller that knows only an id finds the entry.
  private func checkLocated(_ log: [LogEntry], in space: SpaceID) async throws {
    for entry in [log.first, log.last].compactMap(\.self) {
      guard try await store.locate(entry.id) == space else {
        throw Broken("\(entry.id) is not found in \(space)")
      }
    }
  }
}

extension Visibility {
  fileprivate var words: String {
    switch self {
    case .visible(let reason): "seen, \(reason)"
    case .hidden(let reason): "hidden, \(reason)"
    }
  }
}
