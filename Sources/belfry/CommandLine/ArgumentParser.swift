/// Reads the words after a command's name. `--name value` and `--name=value` mean the same; after `--`
/// everything is an operand.
struct ArgumentParser {
  private let command: Command
  private var rest: ArraySlice<String>
  private var operands: [String] = []
  private var values: [String: [String]] = [:]

  static func parse(_ words: [String], for command: Command) throws(UsageError) -> Arguments {
    var parser = ArgumentParser(command: command, rest: words[...])
    return try parser.parse()
  }

  private init(command: Command, rest: ArraySlice<String>) {
    self.command = command
    self.rest = rest
  }

  private mutating func parse() throws(UsageError) -> Arguments {
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        rest = []
      } else if word.hasPrefix("--") {
        try readOption(word.dropFirst(2))
      } else if word.hasPrefix("-"), word.count > 1 {
        throw UsageError("\(word) is not an option; options begin with two dashes", suggestion: nearest(word))
      } else {
        operands.append(word)
      }
    }
    try checkOperands()
    for option in command.options where option.isRequired && values[option.name] == nil {
      throw UsageError("--\(option.name) is needed: \(option.meaning)")
    }
    return Arguments(operands: operands, values: values)
  }

  // MARK: Options

  private mutating func readOption(_ word: Substring) throws(UsageError) {
    let equals = word.firstIndex(of: "=")
    let name = String(word[..<(equals ?? word.endIndex)])
    let attached = equals.map { String(word[word.index(after: $0)...]) }
    guard let option = command.options.first(where: { $0.name == name }) else {
      throw UsageError("\(command.name) has no option --\(name)", suggestion: nearest(name))
    }
    switch option.kind {
    case .flag:
      guard attached == nil else { throw UsageError("--\(name) takes no value") }
      values[name] = []
    case .value:
      try once(option, try value(of: option, attached))
    case .choice(let choices):
      let value = try value(of: option, attached)
      guard choices.contains(value) else {
        throw UsageError(
          "--\(name) is \(choices.joined(separator: " or ")), not \(value)",
          suggestion: NearestWord.to(value, among: choices))
      }
      try once(option, value)
    case .list:
      var words = [try value(of: option, attached)]
      while command.operands.isEmpty, let next = rest.first, !next.hasPrefix("-") {
        words.append(next)
        rest.removeFirst()
      }
      let named = words.flatMap { $0.split(separator: ",").map(String.init) }
      // Of a variable that is not set: left out, it may mean everything.
      guard !named.isEmpty else { throw UsageError("--\(name) needs a value, or is to be left out") }
      values[name, default: []] += named
    }
  }

  private mutating func value(of option: CommandOption, _ attached: String?) throws(UsageError) -> String {
    if let attached { return attached }
    guard let next = rest.first, next != "--" else { throw UsageError("--\(option.name) needs a value") }
    // `--body --json` is a forgotten value far more often than a body.
    guard !next.hasPrefix("--") else {
      throw UsageError(
        "--\(option.name) needs a value; if \(next) is the value, write --\(option.name)=\(next)")
    }
    rest.removeFirst()
    return next
  }

  private mutating func once(_ option: CommandOption, _ value: String) throws(UsageError) {
    guard values.updateValue([value], forKey: option.name) == nil else {
      throw UsageError("--\(option.name) stands twice")
    }
  }

  private func nearest(_ word: String) -> String? {
    let name = String(word.drop { $0 == "-" })
    return NearestWord.to(name, among: command.options.map(\.name) + ["help"]).map { "--\($0)" }
  }

  // MARK: Operands

  private func checkOperands() throws(UsageError) {
    let needed = command.operands.filter(\.isRequired)
    guard operands.count >= needed.count else {
      throw UsageError("\(needed[operands.count].name) is needed: \(needed[operands.count].meaning)")
    }
    guard command.operands.last?.repeats == true || operands.count <= command.operands.count else {
      throw UsageError("\(command.name) does not know what to do with \(operands[command.operands.count])")
    }
  }
}
