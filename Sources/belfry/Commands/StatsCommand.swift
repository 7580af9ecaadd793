import BelfryModel

extension Command {
  static let stats = Command(
    name: "stats", summary: "show a broker's counters and gauges",
    options: CommandOption.connection,
    examples: [
      Example("stats", "names and values"), Example("stats --json", "the same as one JSON object"),
    ],
    run: { invocation in
      let stats = try await invocation.client().stats()
      try invocation.print(stats, TextTable.aligned(FactText.rows(stats)))
    })
}
