import BelfryClient
import BelfryModel
import Foundation

extension Command {
  static let tail = Command(
    name: "tail", summary: "print notifications as they come",
    detail: """
      Everything unread first, then what happens, a line each, until interrupted. A broker that cannot be \
      reached at the start is an error; one that goes away later is waited for, with a notice on stderr.
      """,
    options: [
      .value("after", "CURSOR", "begin behind this place instead of with everything unread"),
      .value("count", "N", "stop after N notifications"),
    ] + CommandOption.connection,
    examples: [
      Example("tail", "what the token's account receives"),
      Example("tail --as bob", "what bob receives, with an app or operator token"),
      Example("tail --json --count 1", "the next one, for a program: {\"event\", \"cursor\", \"data\"}"),
    ],
    run: { invocation in
      let count = try invocation.arguments.integer("count", in: 1...Int.max)
      let feed = try invocation.client().notifications(after: invocation.arguments.text("after"))
      try await Tail(invocation: invocation, countLimit: count).follow(feed)
    })
}

private struct Tail {
  let invocation: Invocation
  let countLimit: Int?
  private var count = 0
  private var wasConnected = false

  init(invocation: Invocation, countLimit: Int?) {
    self.invocation = invocation
    self.countLimit = countLimit
  }

  func follow(_ feed: NotificationFeed) async throws {
    var tail = self
    for try await event in feed {
      try tail.print(event)
      if tail.count == countLimit { return }
    }
    throw CommandFailure(code: "kicked", detail: "the broker ended the stream for good")
  }

  private mutating func print(_ event: FeedEvent) throws {
    switch event {
    case .connected:
      if wasConnected { invocation.console.complain("belfry: connected again") }
      wasConnected = true
    case .disconnected(let error, let pause):
      // Never reached yet, it is more likely a wrong --url than a broker that will come.
      guard wasConnected else { throw error }
      let seconds = String(
        format: "%.1f", Double(pause.components.seconds) + Double(pause.components.attoseconds) / 1e18)
      invocation.console.complain("belfry: \(error.detail); trying again in \(seconds) s")
    default:
      if case .notification = event { count += 1 }
      let zone = invocation.console.timeZone
      let now = Int64(Date().timeIntervalSince1970 * 1_000)
      try invocation.print(FeedLine(event), [FeedLine.text(event, nowMilliseconds: now, in: zone)])
    }
  }
}
