import BelfryClient
import BelfryModel

extension Command {
  static let explain = Command(
    name: "explain", summary: "show why an account sees a notification or not",
    detail: """
      Says whether the account sees the notification, and why. It also shows the place, the time and the receivers of \
      the notification. For the account it shows when the membership began, whether it is subscribed, whether the \
      notification names it, and whether it has marked the notification read. This needs an app or operator token.
      """,
    operands: [Operand(name: "MESSAGE", meaning: "the notification", isRequired: false)],
    options: [
      .value("account", "ACCID", "the account").withNamesElsewhere("as").required,
      .value("message", "ID", "the notification, in place of MESSAGE"),
    ] + CommandOption.brokerConnection,
    examples: [
      Example("explain 382919632803229696 --account bob", "why bob sees it, or does not"),
      Example("explain --account bob --message 382919632803229696", "the same"),
    ],
    run: { invocation in
      let account = try invocation.arguments.neededAccount("account")
      let message = try invocation.arguments.explainedMessage
      let explanation = try await invocation.client().explain(message, to: account)
      try invocation.print(
        explanation,
        ExplanationText.lines(
          explanation, message, account, in: invocation.console.timeZone,
          columnsLimit: invocation.console.terminal.columns))
    })
}

extension Arguments {
  fileprivate var explainedMessage: MessageID {
    get throws(UsageError) {
      let named = try message("message")
      guard let word = operands.first else {
        if let named { return named }
        throw UsageError(
          "MESSAGE is needed: the notification", suggestion: "belfry explain MESSAGE --account ACCID")
      }
      guard named == nil else { throw UsageError("the notification is given twice: \(word), and --message") }
      return try Self.message(word, "MESSAGE")
    }
  }
}
