import BelfryClient
import BelfryInterface
import BelfryModel

extension Command {
  static let statistics = Command(
    name: "stats", summary: "show statistics of the broker, in total and by event loop",
    detail: """
      Shows each number in total and for each event loop. If there are more than four loops, it shows only \
      the lowest and the highest of their values. It leaves out numbers that are 0 in all loops. This needs an \
      app or operator token.
      """,
    options: [
      .flag("all", "also show numbers that are 0"),
      .value("watch", "SECONDS", "show the numbers again at this interval, with rates per second"),
    ] + CommandOption.brokerConnection,
    examples: [
      Example("stats", "the broker's numbers since it started"),
      Example("stats --watch 2", "the same every two seconds, until interrupted"),
      Example("stats --json", "every number of every loop, for a program"),
    ],
    run: { invocation in
      let pause = try invocation.arguments.integer("watch", in: 1...3_600)
      try await StatisticsRun(invocation: invocation, client: invocation.client()).run(pauseSeconds: pause)
    })
}

private struct StatisticsRun {
  let invocation: Invocation
  let client: BelfryClient

  /// - Parameter pauseSeconds: the time until it is shown again; nil: it is shown once.
  func run(pauseSeconds: Int?) async throws {
    var earlier: (answer: JSONValue, at: ContinuousClock.Instant)?
    repeat {
      guard let answer = try await client.perform(OperatorRoutes.statistics.route) else { return }
      let now = ContinuousClock.now
      let before = earlier.map { earlier in
        StatisticsText.Earlier(
          earlier.answer, secondsAgo: (now - earlier.at) / .seconds(1), in: invocation.console.timeZone)
      }
      if pauseSeconds != nil { invocation.console.clearScreen() }
      try show(answer, since: before)
      earlier = (answer, now)
      if let pauseSeconds { try await Task.sleep(for: .seconds(pauseSeconds)) }
    } while pauseSeconds != nil
  }

  private func show(_ answer: JSONValue, since before: StatisticsText.Earlier?) throws {
    guard !invocation.printsJSON else { return invocation.console.print([try JSONLine.text(answer)]) }
    let text = StatisticsText(
      answer, in: invocation.console.timeZone, since: before, showsAll: invocation.arguments.isSet("all"))
    invocation.console.print(text.broker.lines(columnsLimit: invocation.console.terminal.columns) + [""])
    invocation.console.print(text.table, empty: "nothing was counted yet")
    if text.hiddenCount > 0 {
      invocation.console.print(["", "\(text.hiddenCount) more are 0; --all shows them"])
    }
  }
}
