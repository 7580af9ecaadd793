/// A help text that belongs to no single command, in rows of a word and its meaning.
struct HelpTopic: Sendable {
  let name: String
  let summary: String
  let rows: [(String, String)]
}

extension HelpTopic {
  static let all = [exitCodes, environment]

  private static let exitCodes = HelpTopic(
    name: "exit-codes", summary: "how a command ends",
    rows: ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) } + [
      ("128+N", "ended by signal N: 130 after Ctrl-C, 143 after SIGTERM; serve ends with 0 after either")
    ])

  private static let environment = HelpTopic(
    name: "environment", summary: "variables that belfry reads; options override them",
    rows: [
      ("BELFRY_URL", "the broker's URL, like --url"),
      ("BELFRY_CA", "a PEM file with the authorities that sign the broker's certificate, like --ca"),
      (
        "BELFRY_TOKEN",
        "the token, like --token, and safer: arguments are visible to everybody on the machine"
      ),
      (
        "BELFRY_DATA",
        "the broker's data folder, like --data"
      ),
      ("BELFRY_MOVE_TO", "the Redis to move to, like --to of move"),
      ("BELFRY_SECRET_FILE", "the file with the secret that signs tokens, for serve, check-config and token"),
      ("BELFRY_SECRET", "the secret itself"),
      ("BELFRY_CONFIG", "the broker's configuration file, like --config"),
      ("BELFRY_…", "any other setting of the broker: belfry check-config lists them all"),
      ("COLUMNS", "the width of tables on a terminal; by default the terminal's width"),
      (
        "NO_COLOR",
        "if it is not empty, nothing is coloured; the same if TERM is dumb, or if the output goes to a pipe or file"
      ),
      ("TZ", "the time zone in which times are shown"),
    ])
}

extension ExitCode {
  fileprivate var meaning: String {
    switch self {
    case .success: "done"
    case .refused:
      "the broker refused the request or cannot be reached, or something on this machine failed; for webhook test, the "
        + "receiver did not accept the test; standard error has a code, the reason and advice"
    case .wrongUsage:
      "wrong usage; for serve also an option with an invalid value; for check-config a configuration with which no "
        + "broker starts; nothing was done"
    }
  }
}
