import BelfryClient

extension Command {
  static let explain = Command(
    name: "explain", summary: "say why an account sees a notification, or not",
    options: [
      CommandOption.value("account", "ACCID", "whose view").required,
      CommandOption.value("message", "ID", "the notification's messageServerId").required,
    ] + CommandOption.connection,
    examples: [
      Example("explain --account bob --message 309237645312", "did, does, will bob see it, and why")
    ],
    run: { invocation in
      let account = try invocation.arguments.neededAccount("account")
      let message = try invocation.arguments.neededMessage("message")
      let explanation = try await invocation.client().explain(message, to: account)
      let verdict = explanation.visible ? "sees" : "does not see"
      let facts = FactText.rows(explanation.facts, in: invocation.console.timeZone)
      try invocation.print(
        explanation,
        [
          "\(account) \(verdict) \(message): "
            + invocation.console.colored(
              VisibleText.of(explanation.reason), explanation.visible ? .green : .yellow),
          VisibleText.of(explanation.detail),
        ] + (facts.isEmpty ? [] : [""] + TextTable.aligned(facts)))
    })
}
