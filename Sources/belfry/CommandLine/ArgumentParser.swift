import BelfryBytes
import BelfryModel

/// Reads the words after a command's name. `--name value` and `--name=value` mean the same; after `--`
/// everything is an operand.
struct ArgumentParser {
  private let command: Command
  private var rest: ArraySlice<String>
  private var operands: [String] = []
  private var values: [String: [String]] = [:]
  private var lastInList: [String: String] = [:]
  /// The flags that stand right before an operand, by the operand's index.
  private var flagBefore: [Int: String] = [:]
  private var lastFlag: String?

  static func parse(_ words: [String], for command: Command) throws(UsageError) -> Arguments {
    var parser = ArgumentParser(command: command, rest: words[...])
    return try parser.parse()
  }

  private init(command: Command, rest: ArraySlice<String>) {
    self.command = command
    self.rest = rest
  }

  /// The operand that the next word without an option's name is; nil if all operands are given.
  private var nextOperand: Operand? {
    if operands.count < command.operands.count { return command.operands[operands.count] }
    return command.operands.last.flatMap { $0.repeats ? $0 : nil }
  }

  /// True if a word that begins with a dash may be an operand. The name of a key is random and may begin with
  /// a dash. A single letter, or a word that is nearly an option's name, counts as an option. With two dashes only a word that
  /// is as long as a code is an operand, so that other words are named as unknown options.
  private func mayBeOperand(_ word: String) -> Bool {
    guard let operand = nextOperand, word.count > 2, nearest(word) == nil else { return false }
    return !word.hasPrefix("--") || word.count == operand.codeLength && !word.contains("=")
  }

  private mutating func parse() throws(UsageError) -> Arguments {
    while let word = rest.popFirst() {
      let flag = lastFlag
      lastFlag = nil
      if word == "--" {
        operands += rest
        rest = []
      } else if word.hasPrefix("--"), !mayBeOperand(word) {
        try readOption(word.dropFirst(2))
      } else if word.hasPrefix("-"), word.count > 1, !mayBeOperand(word) {
        throw UsageError("\(word) is not an option; options begin with two dashes", suggestion: nearest(word))
      } else {
        flagBefore[operands.count] = flag
        operands.append(word)
      }
    }
    try checkOperands()
    for option in command.options where option.isRequired && values[option.name] == nil {
      let confused = option.name == "link" && values["url"] != nil ? "; --url names the broker" : ""
      var listed = ""
      if case .choice(let choices) = option.kind { listed = " (\(choices.joined(separator: " or ")))" }
      throw UsageError("--\(option.name) is needed: \(option.meaning)\(listed)\(confused)")
    }
    return Arguments(operands: operands, values: values, lastInList: lastInList)
  }

  // MARK: Options

  private mutating func readOption(_ word: Substring) throws(UsageError) {
    let equals = word.firstIndex(of: "=")
    let name = String(word[..<(equals ?? word.endIndex)])
    let attached = equals.map { String(word[word.index(after: $0)...]) }
    guard let option = command.option(named: name) else {
      if let advice = command.adviceOnOptions[name] {
        throw UsageError("there is no option --\(name). \(advice)")
      }
      throw UsageError(
        "there is no option --\(name)",
        suggestion: standingAlone(name) ?? calledElsewhere(name) ?? placeOfAccounts(name)
          ?? otherCommand(with: name) ?? nearest(name))
    }
    switch option.kind {
    case .flag:
      guard attached == nil else { throw UsageError("--\(name) takes no value") }
      values[name] = []
      lastFlag = name
    case .value:
      try once(option, try value(of: option, attached))
    case .choice(let choices):
      let value = try value(of: option, attached)
      guard choices.contains(value) || option.otherChoices.contains(value) else {
        throw UsageError(
          "--\(name) must be \(choices.joined(separator: " or ")), not \(value)",
          suggestion: option.meant(by: value).map { "--\(name) \($0)" }
            ?? NearestWord.to(value, among: choices))
      }
      try once(option, value)
    case .list:
      var words = [try value(of: option, attached)]
      while command.operands.isEmpty, let next = rest.first, !next.hasPrefix("-"), option.couldList(next) {
        words.append(next)
        rest.removeFirst()
        lastInList[name] = next
      }
      let named = words.flatMap { word in
        word.split(separator: ",", omittingEmptySubsequences: false).map { part in
          String(part.drop { $0 == " " })
        }
      }
      if option.mayBeEmpty, words == [""] {
        values[name] = []
        return
      }
      // The value probably came from a variable that is not set. If the option were left out, the command
      // might mean everything.
      guard named.contains(where: { !$0.isEmpty }) else {
        throw UsageError("--\(name) needs a value, or must be left out")
      }
      guard !named.contains("") else {
        throw UsageError("a value of --\(name) is empty: \(words.joined(separator: " "))")
      }
      values[name, default: []] += named
    }
  }

  private mutating func value(of option: CommandOption, _ attached: String?) throws(UsageError) -> String {
    if let attached { return attached }
    guard let next = rest.first, next != "--" else { throw UsageError("--\(option.name) needs a value") }
    // `--body --json` is a forgotten value far more often than a body.
    guard !next.hasPrefix("--") else {
      throw UsageError(
        "--\(option.name) needs a value; if \(next) is the value, write "
          + "--\(option.name)=\(ShellWord.quoted(next))")
    }
    rest.removeFirst()
    return next
  }

  private mutating func once(_ option: CommandOption, _ value: String) throws(UsageError) {
    guard values.updateValue([value], forKey: option.name) == nil else {
      throw UsageError("--\(option.name) is given twice")
    }
  }

  private func nearest(_ word: String) -> String? {
    let name = String(word.drop { $0 == "-" })
    return NearestWord.to(name, among: command.options.map(\.name) + ["help"]).map { "--\($0)" }
  }

  private func calledElsewhere(_ name: String) -> String? {
    // `appId` is `--app`, as `serverId` is `--server`.
    let short = name.hasSuffix("-id") ? String(name.dropLast("-id".count)) : nil
    let options = command.options.filter {
      // `--ttl-seconds` is `--ttl`.
      $0.namesElsewhere.contains(name) || $0.name == short || name.hasPrefix($0.name + "-")
    }
    return (options.first(where: \.isRequired) ?? options.first).map(\.form)
  }

  /// The hint for `server show --server 12`, which is right except for the option's name.
  private func standingAlone(_ name: String) -> String? {
    let operand = command.operands.first { $0.name.lowercased() == name.lowercased() }
    return operand.map { "\($0.name) without --\(name): belfry \(command.usage)" }
  }

  /// The hint for `group update --announcement`: the command of the same group that has the option, if it is the only one.
  private func otherCommand(with name: String) -> String? {
    guard let group = command.group else { return nil }
    let others = CommandTable.belfry.commands.filter { other in
      other.group == group && other.options.contains { $0.name == name }
    }
    guard others.count == 1, let option = others[0].options.first(where: { $0.name == name }) else {
      return nil
    }
    let usage = others[0].usage
    return "belfry \(usage)" + (usage.contains("--\(name) ") ? "" : " \(option.form)")
  }

  private static let accountWords: Set<String> = [
    "accid", "accids", "account", "accounts", "invite", "invitee", "invitees", "member", "members", "user",
    "users", "to",
  ]

  /// The words that mean other accounts than the one that acts.
  private static let othersWords: Set<String> = [
    "invite", "invitee", "invitees", "member", "members", "users", "accids", "to",
  ]

  /// The command that invites accounts to a space that the command creates.
  private var inviting: Command? {
    guard let group = command.group, command.name == "\(group) create" else { return nil }
    return CommandTable.belfry.commands.first { $0.name == "\(group) invite" }
  }

  /// The hint for `group invite --invitees bob`: each command calls the accounts by its own name.
  private func placeOfAccounts(_ name: String) -> String? {
    guard Self.accountWords.contains(name.lowercased()) else { return nil }
    if command.operands.contains(where: { $0.name == "ACCID" }) {
      return "ACCID without --\(name): belfry \(command.usage)"
    }
    let lists = command.options.filter { if case .list("ACCID") = $0.kind { true } else { false } }
    if lists.isEmpty, Self.othersWords.contains(name.lowercased()), let inviting {
      return "belfry \(inviting.usage)"
    }
    return (lists.first ?? command.options.first { $0.name == "as" }).map(\.form)
  }

  // MARK: Operands

  private func checkOperands() throws(UsageError) {
    let needed = command.operands.filter(\.isRequired)
    guard operands.count >= needed.count else {
      let missing = needed[operands.count]
      throw UsageError("\(missing.name) is needed: \(missing.meaning)", suggestion: "belfry \(command.usage)")
    }
    guard command.operands.last?.repeats == true || operands.count <= command.operands.count else {
      throw stray(operands[command.operands.count], after: flagBefore[command.operands.count])
    }
    for (operand, word) in zip(command.operands, operands)
    where !operand.choices.isEmpty && !operand.choices.contains(word) {
      throw UsageError(
        "\(operand.name) must be \(operand.choices.joined(separator: " or ")), not \(word)",
        suggestion: NearestWord.to(word, among: operand.choices))
    }
  }

  /// A word in a place where no word is expected. Usually the name of its option was left out.
  private func stray(_ word: String, after flag: String?) -> UsageError {
    if let flag {
      return UsageError("\(word) is not understood. --\(flag), which stands before it, takes no value")
    }
    if let advice = command.strayAdvice { return UsageError("\(word) is not understood. \(advice)") }
    let taken = command.operands.map(\.name)
    let alone =
      taken.isEmpty
      ? "This command takes only options"
      : "Apart from options, this command takes only \(taken.joined(separator: " and "))"
    // A command that asks first takes no hint about the account that acts: with it, `server delete 12 wes` would delete.
    let asks = command.options.contains { $0.name == CommandOption.yes.name }
    let open = command.options.filter {
      values[$0.name] == nil && $0.couldTake(word) && !(asks && $0.name == "as")
    }
    // Only one of few words fits a choice, but almost every word could be the name of an account.
    let required = open.filter(\.isChoice) + open.filter(\.isRequired)
    let meant = (required.isEmpty ? open.prefix(2) : required.prefix(1)).map {
      "--\($0.name) \(ShellWord.quoted(word))"
    }
    return UsageError(
      "\(word) is not understood. \(alone)",
      suggestion: meant.isEmpty ? nil : meant.joined(separator: " or "))
  }
}

extension Command {
  fileprivate func option(named name: String) -> CommandOption? {
    options.first { $0.name == name } ?? (changesSomething && name == CommandOption.yes.name ? .yes : nil)
  }
}

extension CommandOption {
  /// The choice that another word for yes or no means; nil for any other word.
  fileprivate func meant(by word: String) -> String? {
    guard case .choice(let choices) = kind, choices.count == 2 else { return nil }
    let word = word.lowercased()
    return [["true", "on", "yes", "1", "enable"], ["false", "off", "no", "0", "disable"]]
      .first { $0.contains(word) }
      .flatMap { words in choices.first { words.contains($0) } }
  }

  fileprivate var isChoice: Bool { if case .choice = kind { true } else { false } }

  /// True if a word looks like a value of the option.
  fileprivate func couldTake(_ word: String) -> Bool {
    let placeholder: String
    switch kind {
    case .flag: return false
    case .choice(let choices): return choices.contains(word)
    case .value(let name), .list(let name): placeholder = name
    }
    let isNumber = !word.isEmpty && word.allSatisfy { ("0"..."9").contains($0) }
    switch placeholder {
    case "ID", "ID|all": return isNumber && name != "device"
    case "N", "SECONDS": return isNumber && name != "limit"
    case "JSON": return word.hasPrefix("{") || word.hasPrefix("[")
    case "URL": return word.contains("://")
    case "ACCID": return !isNumber && !word.contains { $0.isWhitespace || $0 == "/" || $0 == ":" }
    case "FILE", "DIR": return word.contains("/") || word.contains(".")
    case "TEXT": return !isNumber
    default: return false
    }
  }

  /// True if a word after the values of a list may be another one. A text with a space cannot be an account.
  fileprivate func couldList(_ word: String) -> Bool {
    guard case .list("ACCID") = kind else { return true }
    return word.split(separator: ",").allSatisfy { AccountID(String($0)) != nil }
  }
}
