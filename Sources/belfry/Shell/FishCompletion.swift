/// For fish 3 and later.
enum FishCompletion {
  static func lines(_ table: CommandTable) -> [String] {
    var lines = [
      "# True if the words typed so far are these; or begin with these.",
      "function __belfry_at", "  set -l words (commandline -opc)", "  set -e words[1]",
      "  test \"$words\" = \"$argv\"", "end",
      "function __belfry_is", "  set -l words (commandline -opc)", "  set -e words[1]",
      "  string match -q -- \"$argv *\" \"$words \"", "end",
      "complete -c belfry -f",
      "complete -c belfry -n __belfry_at -l version -d 'print the version of Belfry'",
    ]
    for (word, meaning) in table.firstWords {
      lines.append("complete -c belfry -n __belfry_at -a \(word) -d \(quoted(meaning))")
    }
    for group in table.groupNames {
      for (word, meaning) in table.words(of: group) {
        lines.append("complete -c belfry -n '__belfry_at \(group)' -a \(word) -d \(quoted(meaning))")
      }
    }
    let topics = table.topics.map(\.name).joined(separator: " ")
    lines.append("complete -c belfry -n '__belfry_at help' -a '\(topics)'")
    return lines + table.commands.flatMap(options)
  }

  private static func options(_ command: Command) -> [String] {
    let condition = "__belfry_is \(command.name)"
    var lines: [String] = []
    for option in command.options + [.flag("help", "show the help")] {
      var line = "complete -c belfry -n '\(condition)' -l \(option.name) -d \(quoted(option.meaning))"
      switch option.completableValue {
      case nil: break
      case .words(let words): line += " -x -a '\(words.joined(separator: " "))'"
      case .file: line += " -r -F"
      case .folder: line += " -x -a '(__fish_complete_directories)'"
      case .unknown: line += " -x"
      }
      lines.append(line)
    }
    if command.takesFile { lines.append("complete -c belfry -n '\(condition)' -F") }
    if !command.operandWords.isEmpty {
      lines.append("complete -c belfry -n '\(condition)' -a '\(command.operandWords.joined(separator: " "))'")
    }
    return lines
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}
