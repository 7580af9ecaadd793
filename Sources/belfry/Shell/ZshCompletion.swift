/// For zsh's completion system (zshcompsys(1)).
enum ZshCompletion {
  static func lines(_ table: CommandTable) -> [String] {
    var lines = [
      "_belfry() {", "  local context state line", "  local -a words_here", "  case $CURRENT in", "  2)",
    ]
    lines +=
      described(table.firstWords, "command", indent: "    ") + [
        "    return ;;", "  esac", "  case $words[2] in",
      ]
    for group in table.groupNames {
      lines += ["  \(group))", "    if (( CURRENT == 3 )); then"]
      lines += described(table.words(of: group), "command", indent: "      ") + ["      return", "    fi"]
      lines += ["    shift words; (( CURRENT-- ))", "    case $words[2] in"]
      for command in table.commands where command.group == group {
        lines += arguments(command, word: String(command.words.last ?? ""), indent: "    ")
      }
      lines += ["    esac ;;"]
    }
    for command in table.commands where command.group == nil {
      lines += arguments(command, word: command.name, indent: "  ")
    }
    let helped = table.firstWords.map(\.word) + table.topics.map(\.name)
    lines.append("  help) (( CURRENT == 3 )) && compadd -- \(helped.joined(separator: " ")) ;;")
    return lines + ["  esac", "}", "_belfry \"$@\""]
  }

  private static func described(
    _ words: [(word: String, meaning: String)], _ what: String, indent: String
  ) -> [String] {
    ["\(indent)words_here=("] + words.map { "\(indent)  '\($0.word):\(quoted($0.meaning))'" } + [
      "\(indent))", "\(indent)_describe \(what) words_here",
    ]
  }

  /// One call of `_arguments`, which wants the command's own word to be the first.
  private static func arguments(_ command: Command, word: String, indent: String) -> [String] {
    var specs = (command.options + [.flag("help", "show the help")]).map { option in
      let name = "--\(option.name)[\(bracketed(option.meaning))]"
      let repeated = if case .list = option.kind { "*" } else { "" }
      guard let value = option.completableValue else { return name }
      switch value {
      case .words(let words): return "\(name):\(option.name):(\(words.joined(separator: " ")))"
      case .file: return "\(name):file:_files"
      case .folder: return "\(name):folder:_files -/"
      case .unknown: return "\(repeated)\(name):\(option.name): "
      }
    }
    specs += command.operands.map { operand in
      let action =
        operand.name == "FILE"
        ? "_files" : operand.choices.isEmpty ? " " : "(\(operand.choices.joined(separator: " ")))"
      return "\(operand.repeats ? "*" : operand.isRequired ? "" : ":"):\(operand.name):\(action)"
    }
    return ["\(indent)\(word))", "\(indent)  shift words; (( CURRENT-- ))"]
      + ["\(indent)  _arguments -S \\"]
      + specs.enumerated().map { index, spec in
        "\(indent)    '\(spec.replacing("'", with: "'\\''"))'" + (index == specs.count - 1 ? " ;;" : " \\")
      }
  }

  /// Within single quotes and before a colon.
  private static func quoted(_ text: String) -> String {
    text.replacing("'", with: "'\\''").replacing(":", with: "\\:")
  }

  /// Within brackets.
  private static func bracketed(_ text: String) -> String {
    text.replacing("[", with: "\\[").replacing("]", with: "\\]").replacing(":", with: "\\:")
  }
}
