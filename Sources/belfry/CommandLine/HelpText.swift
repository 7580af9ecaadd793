/// The help, generated from the commands' own descriptions, so that it cannot show an option that does not
/// exist.
enum HelpText {
  static let widthColumns = 80

  /// The overview of all commands, on one screen.
  static func overview(_ table: CommandTable) -> [String] {
    var rows: [(String, String)] = []
    for command in table.commands {
      guard let group = command.group else {
        if let pair = table.pairs.first(where: { $0.names.contains(command.name) }) {
          if pair.names.first == command.name {
            rows.append((pair.names.joined(separator: ", "), pair.summary))
          }
        } else {
          rows.append((command.name, command.summary))
        }
        continue
      }
      if !rows.contains(where: { $0.0 == group }) { rows.append((group, table.groups[group] ?? "")) }
    }
    return ["belfry COMMAND [OPTIONS]   a notification queue and subscription broker"]
      + columns(rows)
      + [
        "More: belfry COMMAND --help"
          + table.topics.map { ", belfry help \($0.name)" }.joined() + "."
      ]
  }

  static func topic(_ topic: HelpTopic) -> [String] {
    wrapped("belfry: \(topic.summary)", indent: 0, hanging: 2) + [""] + columns(topic.rows)
  }

  /// The commands of one group.
  static func group(_ name: String, _ table: CommandTable) -> [String] {
    let commands = table.commands.filter { $0.group == name }
    return ["belfry \(name): \(table.groups[name] ?? "")", ""]
      + columns(commands.map { ($0.name, $0.summary) })
      + ["", "belfry \(name) COMMAND --help describes one of them, with examples."]
  }

  static func command(_ command: Command) -> [String] {
    var lines = wrapped("belfry \(command.name): \(command.summary)", indent: 0, hanging: 2) + [""]
    lines += wrapped("belfry \(command.usage) [OPTIONS]", indent: 2, hanging: 6)
    if let detail = command.detail { lines += [""] + wrapped(detail, indent: 0, hanging: 0) }
    if !command.otherNames.isEmpty {
      let names = command.otherNames.map { "belfry \($0)" }.joined(separator: " and ")
      lines += [""] + wrapped("Other names of this command: \(names).", indent: 0, hanging: 0)
    }
    if !command.operands.isEmpty {
      lines += [""] + columns(command.operands.map { ($0.name, $0.meaning) })
    }
    let options = command.options + [.flag("help", "print this")]
    lines += ["", "Options:"] + columns(options.map { ($0.form, $0.meaning) })
    lines += ["", "Examples:"]
    for example in command.examples {
      lines += exampleLines(example.words) + wrapped(example.meaning, indent: 6, hanging: 6)
    }
    return lines
  }

  /// Breaks a long example into lines that a shell joins again.
  private static func exampleLines(_ words: String) -> [String] {
    let continued = " \\"
    // A text in quotes stays on one line, and so does an option with its value.
    let space = "\u{A0}"
    let parts = words.split(separator: "\"", omittingEmptySubsequences: false)
    let whole = parts.enumerated().map { index, part in
      index.isMultiple(of: 2) ? String(part) : String(part).replacing(" ", with: space)
    }.joined(separator: "\"")
    let units = whole.split(separator: " ").reduce(into: ["belfry"]) { units, word in
      let isValue = units.last?.hasPrefix("--") == true && !word.hasPrefix("--")
      if isValue { units[units.count - 1] += space + word } else { units.append(String(word)) }
    }
    var lines = wrapped(
      units.joined(separator: " "), indent: 2, hanging: 4, limit: widthColumns - continued.count)
    for index in lines.indices.dropLast() { lines[index] += continued }
    return lines.map { $0.replacing(space, with: " ") }
  }

  // MARK: Layout

  private static func columns(_ rows: [(String, String)]) -> [String] {
    // A column wider than this would leave no room for the meaning; such a row takes two lines.
    let widest = min(rows.map(\.0.count).max() ?? 0, 26)
    var lines: [String] = []
    for (left, right) in rows {
      let meaning = wrapped(right, indent: widest + 4, hanging: widest + 4)
      guard left.count <= widest, let first = meaning.first else {
        lines += ["  " + left] + meaning
        continue
      }
      let padding = String(repeating: " ", count: widest - left.count + 2)
      lines.append("  " + left + padding + first.drop { $0 == " " })
      lines += meaning.dropFirst()
    }
    return lines
  }

  private static func wrapped(
    _ text: String, indent: Int, hanging: Int, limit: Int = widthColumns
  ) -> [String] {
    var lines: [String] = []
    var line = String(repeating: " ", count: indent)
    var isEmpty = true
    for word in text.split(separator: " ") {
      if !isEmpty, line.count + 1 + word.count > limit {
        lines.append(line)
        line = String(repeating: " ", count: hanging)
        isEmpty = true
      }
      line += (isEmpty ? "" : " ") + word
      isEmpty = false
    }
    return isEmpty ? lines : lines + [line]
  }
}

extension Command {
  /// The words that have to be given, without the leading `belfry`.
  var usage: String {
    let forms = operands.map { operand in
      let form = operand.name + (operand.repeats ? "…" : "")
      return operand.isRequired ? form : "[\(form)]"
    }
    return ([name] + forms + options.filter(\.isRequired).map(\.form)).joined(separator: " ")
  }
}

extension CommandOption {
  /// The option as it is written.
  var form: String {
    switch kind {
    case .flag: "--\(name)"
    case .value(let placeholder): "--\(name) \(placeholder)"
    case .choice(let choices): "--\(name) \(choices.joined(separator: "|"))"
    case .list(let placeholder): "--\(name) \(placeholder),…"
    }
  }
}
