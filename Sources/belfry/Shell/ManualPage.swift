import BelfryModel

/// The manual page (man(7)), made of the commands' own descriptions.
enum ManualPage {
  static func lines(_ table: CommandTable) -> [String] {
    var page = [
      ".\\\" Made by belfry man.", ".TH BELFRY 1 \"\" \"belfry \(BelfryVersion.text)\" \"User Commands\"",
      ".SH NAME",
      "belfry \\- a notification queue and subscription broker", ".SH SYNOPSIS",
      ".B belfry", ".I COMMAND", "[\\fIOPTIONS\\fR]", ".br", ".B belfry",
      "\\fICOMMAND\\fR \\fB\\-\\-help\\fR", ".SH DESCRIPTION",
    ]
    page += text(
      """
      Belfry stores system notifications in Redis and delivers each to the accounts it is for, on all their devices, \
      until they mark it read. belfry serve runs a broker. All other commands ask a broker over HTTP, unless their \
      description says otherwise. Operands are given by themselves, all other values as options, in any order. The value \
      of an option follows its name or an equals sign. After two dashes every word is an operand.
      """)
    page += [".SH COMMANDS"] + table.commands.flatMap(command)
    page += [".SH CONNECTION OPTIONS"] + text("Every command that asks a broker takes these options.")
    page += CommandOption.connection.flatMap(option)
    for topic in table.topics {
      page += [".SH \(heading(topic.name))"] + text(topic.summary.capitalizingFirst + ".")
      page += topic.rows.flatMap { [".TP", ".B \(escaped($0.0))"] + text($0.1) }
    }
    return page
  }

  private static func command(_ command: Command) -> [String] {
    let connection = Set(CommandOption.connection.map(\.name))
    let names = Set(command.options.map(\.name))
    let asksBroker = names.isSuperset(of: CommandOption.brokerConnection.map(\.name))
    let own = command.options.filter { !asksBroker || !connection.contains($0.name) }
    var lines = [".SS \"belfry \(escaped(command.usage))\""] + text(command.summary.capitalizingFirst + ".")
    if let detail = command.detail { lines += [".PP"] + text(detail) }
    for operand in command.operands {
      lines += [".TP", ".I \(escaped(operand.name))"] + text(operand.meaning)
    }
    lines += own.flatMap(option)
    if asksBroker {
      let exception = names.isSuperset(of: connection) ? "" : ", except --as and --device"
      lines += [".PP"] + text("The command also takes the connection options\(exception).")
    }
    if !command.otherNames.isEmpty {
      lines +=
        [".PP"] + text("Other names of this command: \(command.otherNames.joined(separator: " and ")).")
    }
    for example in command.examples {
      lines += [".PP"] + text(example.meaning.isEmpty ? "Example:" : example.meaning.capitalizingFirst + ":")
      lines += [".RS", ".nf", escaped("belfry \(example.words)"), ".fi", ".RE"]
    }
    return lines
  }

  private static func option(_ option: CommandOption) -> [String] {
    [".TP", ".B \(escaped(option.form))"] + text(option.meaning + (option.isRequired ? "; needed" : ""))
  }

  private static func heading(_ name: String) -> String {
    name == "exit-codes" ? "EXIT STATUS" : name.uppercased()
  }

  private static func text(_ text: String) -> [String] { [escaped(text)] }

  /// A backslash begins an escape, a bare hyphen may be printed as another character, and a dot or an apostrophe at a
  /// line's beginning makes it a request.
  private static func escaped(_ text: String) -> String {
    let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("\"", with: "\\(dq")
    return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
  }
}

extension String {
  fileprivate var capitalizingFirst: String { prefix(1).uppercased() + dropFirst() }
}
