import BelfryClient
import BelfryModel
import Foundation

/// Follows the log of a server with an operator token, until interrupted. The broker has no stream of a log, so the command
/// asks again and again.
struct ServerTail {
  private let invocation: Invocation
  private let client: BelfryClient
  private let server: EntityID
  /// The most entries to show; nil: no limit. Updates and recalls count as well: the last entries of a log may be nothing
  /// else, and the command would wait.
  private let countLimit: Int?
  private var count = 0
  private var names = SpaceNames()
  private var wasConnected = false
  private var isCutOff = false

  /// The most entries before its start that the command shows.
  private static let earlierEntries = 10
  private static let entriesPerPage = 500
  private static let pause = Duration.seconds(1)
  /// Options that are about the feed of an account.
  private static let feedOptions = ["as", "socket", "counts"]

  init(_ invocation: Invocation, server: EntityID, countLimit: Int?) throws {
    for name in Self.feedOptions where invocation.arguments.isSet(name) {
      throw UsageError(
        "--\(name) is about an account's feed, and cannot be combined with --server, which shows a server's log"
      )
    }
    self.invocation = invocation
    self.server = server
    self.countLimit = countLimit
    client = try invocation.client()
  }

  mutating func follow() async throws {
    var cursor = invocation.arguments.text("after")
    while true {
      guard let page = try await nextPage(after: cursor) else { continue }
      if let gap = page.gap {
        invocation.console.complain("belfry: entries between \(gap.from) and \(gap.to) may be missing")
      }
      for entry in page.entries {
        try print(entry)
        if count == countLimit { return }
      }
      cursor = page.cursor
      if page.entries.count < Self.entriesPerPage { try await Task.sleep(for: Self.pause) }
    }
  }

  /// Nil if the broker does not answer at present, after a pause.
  private mutating func nextPage(after cursor: String?) async throws -> ServerLogPage? {
    let last = cursor == nil ? min(Self.earlierEntries, countLimit ?? .max) : nil
    let page: ServerLogPage
    do throws(BelfryError) {
      page = try await client.serverLog(
        of: server, limit: Self.entriesPerPage, after: cursor, last: last)
    } catch {
      // Before the first answer, a wrong --url is more likely than a broker that comes back.
      guard wasConnected, error.mayPass else { throw error }
      if !isCutOff { invocation.console.complain("belfry: \(error.detail); trying again") }
      isCutOff = true
      try await Task.sleep(for: error.retryAfterSeconds.map { .seconds($0) } ?? Self.pause)
      return nil
    }
    if isCutOff { invocation.console.complain("belfry: connected again") }
    if !wasConnected, page.entries.isEmpty, !invocation.printsJSON {
      invocation.console.complain("belfry: connected; nothing new in the log yet")
    }
    (wasConnected, isCutOff) = (true, false)
    return page
  }

  private mutating func print(_ entry: ServerLogPage.Entry) throws {
    let event = entry.feedEvent
    count += 1
    if case .notification(let notification, _) = event { names.learn(from: notification.content) }
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    try invocation.print(
      FeedLine(event, audience: entry.audience),
      [
        FeedLine.text(
          event, nowMilliseconds: now, names, audience: entry.audience, on: invocation.console)
      ])
  }
}
