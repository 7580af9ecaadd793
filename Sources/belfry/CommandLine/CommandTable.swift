import BelfryBytes

/// The existing commands, and the search for one by words.
struct CommandTable: Sendable {
  let commands: [Command]
  /// The purpose of a group's commands, by the group's name.
  let groups: [String: String]
  /// Commands that the overview shows on one line, with their common summary.
  var pairs: [(names: [String], summary: String)] = []
  /// The topics of `help` that are no commands.
  var topics: [HelpTopic] = []

  enum Finding: Sendable {
    case command(Command, rest: [String])
    case help([String])
  }

  func find(_ words: [String]) throws(UsageError) -> Finding {
    guard let first = words.first, first != "--help", first != "-h" else {
      return .help(HelpText.overview(self))
    }
    if first == "help" { return .help(try help(Array(words.dropFirst()))) }
    if first == "--version" || first == "-V" { return try find(["version"] + words.dropFirst()) }
    guard !first.hasPrefix("-") else {
      throw UsageError(
        "the command comes first, then \(first)",
        suggestion: NearestWord.to(first, among: ["--version", "--help"]))
    }
    if groups[first] != nil { return try findInGroup(first, Array(words.dropFirst())) }
    guard let command = command(named: first) else {
      throw UsageError("there is no command \(first)", suggestion: suggestion(for: words))
    }
    return found(command, Array(words.dropFirst()))
  }

  private func command(named name: String) -> Command? {
    commands.first { $0.name == name } ?? commands.first { $0.otherNames.contains(name) }
  }

  /// A suggestion for words that begin no command: `create server`, `list`, `sned`.
  private func suggestion(for words: [String]) -> String? {
    if words.count > 1, commands.contains(where: { $0.name == "\(words[1]) \(words[0])" }) {
      return "\(words[1]) \(words[0])"
    }
    if let whole = WordsElsewhere.wholes[words[0]] { return whole }
    let groups = commands.reduce(into: [String]()) { groups, command in
      if let group = command.group, !groups.contains(group) { groups.append(group) }
    }
    let inGroups = groups.compactMap { group in
      WordsElsewhere.command(words[0], in: group, of: self)?.name
    }
    guard inGroups.isEmpty else { return inGroups.prefix(4).joined(separator: " or ") }
    return NearestWord.to(words[0], among: commands.map { $0.group ?? $0.name } + ["help"])
  }

  private func findInGroup(_ group: String, _ words: [String]) throws(UsageError) -> Finding {
    guard let word = words.first, word != "--help", word != "-h" else {
      return .help(HelpText.group(group, self))
    }
    guard let command = command(named: "\(group) \(word)") else {
      let members = commands.filter { $0.group == group }
      let nearest = NearestWord.to(word, among: members.compactMap { $0.words.last.map(String.init) })
      // The word is most likely an id, and the user wants to see the thing with that id.
      let isID = word.allSatisfy(\.isNumber) && members.contains { $0.name == "\(group) show" }
      let meant =
        WordsElsewhere.ambiguous["\(group) \(word)"]
        ?? WordsElsewhere.command(word, near: group, of: self)?.name
      throw UsageError(
        "there is no command \(group) \(word)",
        suggestion: isID ? "\(group) show \(word)" : meant ?? nearest.map { "\(group) \($0)" })
    }
    return found(command, Array(words.dropFirst()))
  }

  private func found(_ command: Command, _ rest: [String]) -> Finding {
    let options = rest.prefix { $0 != "--" }
    guard !options.contains("--help"), !options.contains("-h") else {
      return .help(HelpText.command(command))
    }
    return .command(command, rest: rest)
  }

  private func help(_ words: [String]) throws(UsageError) -> [String] {
    if let topic = topics.first(where: { [$0.name] == words }) { return HelpText.topic(topic) }
    let isCommand = words.first.map { word in commands.contains { ($0.group ?? $0.name) == word } } ?? true
    if !isCommand, let nearest = NearestWord.to(words[0], among: topics.map(\.name)) {
      throw UsageError("there is no help on \(words[0])", suggestion: "help \(nearest)")
    }
    return switch try find(words + ["--help"]) {
    case .help(let lines): lines
    case .command(let command, _): HelpText.command(command)
    }
  }
}
