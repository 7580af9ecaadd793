import BelfryClient
import BelfryModel
import Foundation
import Synchronization

extension Command {
  static let tail = Command(
    name: "tail", summary: "print notifications as they come",
    detail: """
      Prints everything unread first and then live notifications, one per line, until interrupted. If the \
      broker cannot be reached at the start, that is an error; if it goes away later, the command waits \
      for it and says so on standard error. It marks nothing as read. With --server, which needs an operator \
      token, it shows the log of a server instead: everything that happens in the server and its channels, for \
      all receivers, with updates and recalls. It begins with the last ten entries.
      """,
    options: [
      .value("server", "ID", "show everything in this server, with an operator token"),
      .value("after", "CURSOR", "begin after this cursor instead of with everything unread")
        .setting("Last-Event-ID"),
      .flag("socket", "use a WebSocket, for networks that delay event streams"),
      .flag("counts", "also show the number of unread notifications whenever it changes"),
      .value("count", "N", "stop after N notifications; with --server, after N entries"),
    ] + CommandOption.connection,
    examples: [
      Example("tail", "everything that the token's account receives"),
      Example("tail --as bob", "everything that bob receives, with an app or operator token"),
      Example("tail --server 12", "everything that happens in server 12, for all receivers"),
      Example("tail --json --count 1", "the next one, for a program: {\"event\", \"cursor\", \"data\"}"),
    ],
    run: { invocation in
      let count = try invocation.arguments.integer("count", in: 1...Int.max)
      if let server = try invocation.arguments.entity("server") {
        var tail = try ServerTail(invocation, server: server, countLimit: count)
        return try await tail.follow()
      }
      let feed = try invocation.client().notifications(
        after: invocation.arguments.text("after"), withCounts: invocation.arguments.isSet("counts"),
        over: invocation.arguments.isSet("socket") ? .socket : .serverSentEvents)
      try await Tail(invocation: invocation, countLimit: count).follow(feed)
    })
}

private struct Tail {
  let invocation: Invocation
  let countLimit: Int?
  private var count = 0
  private var wasConnected = false
  private var names: SpaceNames
  private var kickReason: String?
  private var kicker: String?
  private let hasHeard = Latch()

  /// A feed that has notifications begins within this time.
  private static let quietTime: Duration = .seconds(1)

  init(invocation: Invocation, countLimit: Int?) {
    self.invocation = invocation
    names = SpaceNames(of: invocation.actingAccount)
    self.countLimit = countLimit
  }

  func follow(_ feed: NotificationFeed) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      // The command does not wait for the remark that nothing comes.
      defer { group.cancelAll() }
      let start = self
      var tail = self
      for try await event in feed {
        if case .connected = event, !tail.wasConnected { group.addTask { await start.remarkIfQuiet() } }
        try tail.print(event)
        if tail.count == tail.countLimit { return }
      }
      throw CommandFailure(code: tail.kickReason ?? "kicked", detail: tail.farewell)
    }
  }

  /// Why the broker ended the stream for good.
  private var farewell: String {
    switch kickReason {
    case "replaced":
      "another stream of the account\(kicker.map { ", on \($0)," } ?? "") replaced this one; "
        + "the broker's setting logins limits the streams of an account"
    case "ended": "somebody who may act for the account ended this stream"
    default: "the broker ended the stream for good"
    }
  }

  /// Says that the command works even if there is nothing to print, so that the user need not wonder.
  private func remarkIfQuiet() async {
    guard !invocation.printsJSON, (try? await Task.sleep(for: Self.quietTime)) != nil, !hasHeard.isSet else {
      return
    }
    // The broker may be waiting for Redis itself, so the command does not know if anything is unread.
    invocation.console.complain("belfry: connected; nothing has come yet")
  }

  private mutating func print(_ event: FeedEvent) throws {
    switch event {
    case .connected:
      if wasConnected { invocation.console.complain("belfry: connected again") }
      wasConnected = true
    case .disconnected(let error, let pause):
      // If the broker was never reached, a wrong --url is more likely than a broker that is about to start.
      guard wasConnected else { throw error }
      let seconds = String(
        format: "%.1f", Double(pause.components.seconds) + Double(pause.components.attoseconds) / 1e18)
      invocation.console.complain("belfry: \(error.detail); trying again in \(seconds) s")
    case .kicked(let reason, let retry, let device):
      hasHeard.set()
      (kickReason, kicker) = (reason, device)
      if invocation.printsJSON {
        try invocation.print(FeedLine(event), [])
      } else if retry {
        // Otherwise the command ends, and its error says why.
        invocation.console.complain("belfry: the broker ended the stream (\(reason)). Connecting again")
      }
    default:
      hasHeard.set()
      if case .notification(let notification, _) = event {
        count += 1
        names.learn(from: notification.content)
      }
      let now = Int64(Date().timeIntervalSince1970 * 1_000)
      try invocation.print(
        FeedLine(event),
        [
          FeedLine.text(event, nowMilliseconds: now, names, on: invocation.console),
          FeedLine.acceptingLine(event, as: invocation.arguments.text("as"), on: invocation.console),
        ].compactMap(\.self))
    }
  }
}

/// Set once, by one task for another.
private final class Latch: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}
