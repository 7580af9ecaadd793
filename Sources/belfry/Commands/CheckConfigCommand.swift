import BelfryModel
import BelfryServer

extension Command {
  static let checkConfig = Command(
    name: "check-config", summary: "show the configuration of a broker, and its mistakes",
    detail: """
      Reads the configuration file, the environment and the options as belfry serve does, and the files \
      with secrets and keys that they name. Prints every setting with its value and its origin, and each \
      setting's first mistake. Secrets are not shown, and nothing is changed. The exit status is 0 if a broker \
      would start with this configuration, 2 if it would not.
      """,
    options: CommandOption.broker + [.flag("json", "print one JSON value")],
    examples: [
      Example("check-config --config /etc/belfry.json", "before a restart"),
      Example("check-config --json", "the defaults and the settings of the environment, for a program"),
    ],
    run: { invocation in
      let report = ConfigurationReport(invocation.arguments.serveOptions, environment: invocation.environment)
      if invocation.printsJSON {
        invocation.console.print([try JSONLine.text(report.json)])
      } else {
        var table = TextTable(["SETTING", "VALUE", "FROM"])
        for entry in report.entries { table.add([entry.setting, entry.text, entry.source ?? "default"]) }
        invocation.console.print(table)
      }
      for remark in report.remarks { invocation.console.complain("belfry: \(remark)") }
      guard !report.mistakes.isEmpty else { return }
      for mistake in report.mistakes {
        invocation.console.complain("belfry: \(mistake.code.rawValue): \(mistake.place): \(mistake.cause)")
      }
      let count = report.mistakes.count
      throw CommandFailure(
        code: "invalidConfiguration",
        detail: "a broker would not start: \(count) \(count == 1 ? "mistake" : "mistakes")",
        exitCode: .wrongUsage)
    })
}

extension ConfigurationReport.Entry {
  fileprivate var text: String {
    guard let value else { return "- (\(otherwise))" }
    guard setting.hasSuffix("Milliseconds"), let milliseconds = Int(value) else { return value }
    return "\(value) (\(DurationText.of(milliseconds: milliseconds)))"
  }
}

extension ConfigurationReport {
  fileprivate var json: JSONValue {
    [
      "settings": .array(
        entries.map { entry in
          [
            "setting": .string(entry.setting), "value": entry.value.map { .string($0) } ?? .null,
            "from": entry.source.map { .string($0) } ?? .null,
          ]
        }),
      "mistakes": .array(
        mistakes.map { mistake in
          [
            "code": .string(mistake.code.rawValue), "place": .string(mistake.place),
            "cause": .string(mistake.cause),
          ]
        }),
      "remarks": .array(remarks.map { .string($0) }),
    ]
  }
}
