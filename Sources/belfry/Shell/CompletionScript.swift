import BelfryModel

/// The shells for which there are completions.
enum Shell: String, CaseIterable, Sendable {
  case bash, zsh, fish

  /// A script for the shell, made from the commands' own descriptions.
  func completions(for table: CommandTable) -> [String] {
    let note =
      "# \(rawValue) completions of belfry \(BelfryVersion.text), made by belfry completions \(rawValue)"
    switch self {
    case .bash: return [note] + BashCompletion.lines(table)
    case .zsh: return ["#compdef belfry", note] + ZshCompletion.lines(table)
    case .fish: return [note] + FishCompletion.lines(table)
    }
  }
}

extension CommandTable {
  /// The words that can come first.
  var firstWords: [(word: String, meaning: String)] {
    var words: [(word: String, meaning: String)] = []
    for command in commands {
      let word = command.group ?? command.name
      if words.contains(where: { $0.word == word }) { continue }
      words.append((word, command.group.map { groups[$0] ?? "" } ?? command.summary))
    }
    return words + [("help", "show the help of a command")]
  }

  /// The words that can follow a group's name.
  func words(of group: String) -> [(word: String, meaning: String)] {
    commands.filter { $0.group == group }.map { (String($0.words.last ?? ""), $0.summary) }
  }

  /// The groups there are, in the order of their commands.
  var groupNames: [String] { firstWords.map(\.word).filter { groups[$0] != nil } }
}

/// The completions that a shell can offer for a value.
enum CompletableValue {
  case words([String])
  case file
  case folder
  /// Nothing is known of the value, so nothing is offered.
  case unknown
}

extension CommandOption {
  /// Nil for a flag, which has none.
  var completableValue: CompletableValue? {
    switch kind {
    case .flag: nil
    case .choice(let choices): .words(choices)
    case .value("FILE"): .file
    case .value("DIR"): .folder
    case .value, .list: .unknown
    }
  }
}

extension Command {
  /// True if an operand can be a file.
  var takesFile: Bool { operands.contains { $0.name == "FILE" } }
  /// The words that the first operand must be one of.
  var operandWords: [String] { operands.first?.choices ?? [] }
}

/// For bash 4 and later, without the package bash-completion.
enum BashCompletion {
  static func lines(_ table: CommandTable) -> [String] {
    head(table) + optionCases(table) + tail(table)
  }

  private static func head(_ table: CommandTable) -> [String] {
    var lines = [
      "_belfry() {",
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}",
      "  local command=${COMP_WORDS[1]} options=",
      "  COMPREPLY=()",
      "  if ((COMP_CWORD == 1)); then",
      "    COMPREPLY=($(compgen -W '\(joined(table.firstWords)) --help --version' -- \"$word\"))",
      "    return",
      "  fi",
      "  if [[ $command == help ]]; then",
      "    ((COMP_CWORD > 2)) ||",
      "      COMPREPLY=($(compgen -W '\(joined(table.firstWords)) \(table.topics.map(\.name).joined(separator: " "))' -- \"$word\"))",
      "    return",
      "  fi",
      "  case $command in",
    ]
    for group in table.groupNames {
      lines += [
        "  \(group))",
        "    if ((COMP_CWORD == 2)); then",
        "      COMPREPLY=($(compgen -W '\(joined(table.words(of: group)))' -- \"$word\"))",
        "      return",
        "    fi",
        "    command+=\" ${COMP_WORDS[2]}\" ;;",
      ]
    }
    return lines + ["  esac"]
  }

  /// The values first: behind an option's name nothing else is offered.
  private static func optionCases(_ table: CommandTable) -> [String] {
    var lines = ["  case \"$command $before\" in"]
    for command in table.commands {
      for option in command.options {
        guard case .words(let words)? = option.completableValue else { continue }
        lines.append(
          "  '\(command.name) --\(option.name)') COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$word\")); return ;;"
        )
      }
    }
    for (action, kind) in [("-f", "file"), ("-d", "folder"), ("", "unknown")] {
      let names = table.commands.flatMap { command in
        command.options.filter { "\($0.completableValue.map { "\($0)" } ?? "")" == kind }
          .map { "'\(command.name) --\($0.name)'" }
      }
      guard !names.isEmpty else { continue }
      let reply =
        action.isEmpty ? "" : " compopt -o filenames; COMPREPLY=($(compgen \(action) -- \"$word\"));"
      lines.append("  \(names.joined(separator: "|")))\(reply) return ;;")
    }
    lines += ["  esac", "  case $command in"]
    for command in table.commands {
      let options = (command.options.map { "--" + $0.name } + ["--help"] + command.operandWords).joined(
        separator: " ")
      lines.append("  '\(command.name)') options='\(options)' ;;")
    }
    return lines + ["  esac"]
  }

  private static func tail(_ table: CommandTable) -> [String] {
    let withFiles = table.commands.filter(\.takesFile).map { "'\($0.name)'" }.joined(separator: "|")
    return [
      "  COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))",
      "  case $command in",
      "  \(withFiles)) [[ $word == -* ]] || { compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\")); } ;;",
      "  esac",
      "}",
      "complete -F _belfry belfry",
    ]
  }

  private static func joined(_ words: [(word: String, meaning: String)]) -> String {
    words.map(\.word).joined(separator: " ")
  }
}
