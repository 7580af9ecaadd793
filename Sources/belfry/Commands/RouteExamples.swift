import BelfryInterface

// Examples of the commands that are made from rows, for their help.

extension RouteRequest {
  /// One example with everything that is needed, one that gives a time, and one that leaves out the last word.
  func examples(of name: String) -> [Command.Example] {
    if answersRequest {
      let whole = example(of: name, with: [])
      let short = whole.split(separator: " ").dropLast().joined(separator: " ")
      guard applications != nil else { return [Command.Example(short, "the account's own invitation")] }
      return [
        Command.Example(short, "the only pending application"),
        Command.Example(whole, "bob's application"),
      ]
    }
    let whole = example(of: name, with: [])
    if accountMayBeLeftOut {
      let short = Command.Example(
        example(of: name, with: [], leavesAccountOut: true), "for the account that the command acts for")
      return isOwn || route.options.accountIsCaller ? [short] : [short, Command.Example(whole, "for bob")]
    }
    let since = queryOptions.filter { $0.shape.bare == .time && !$0.isNeeded }
    return [Command.Example(whole)]
      + since.map { Command.Example(example(of: name, with: [$0]), "only entries of the last day") }
      + bodyOptions.filter(\.takesTime).map { property in
        let id = "--\(property.commandName) \(word(for: property))"
        return Command.Example(
          whole.replacing(id, with: "--\(property.commandName) 24h"), "everything of the last day")
      }
  }

  private func example(of name: String, with others: [Property], leavesAccountOut: Bool = false) -> String {
    let shown = (queryOptions + bodyOptions).filter { property in
      property.isNeeded || route.options.example[property.name] != nil
    }
    let options = (shown + others).map { "--\($0.commandName) \(word(for: $0))" }
    let inPath = route.pathProperties.dropLast(leavesAccountOut ? 1 : 0)
    let operands = zip(inPath, inPath.indices).map { property, index in
      // The second id is of another thing, such as the channel of a server.
      property.shape.bare == .id && index > 0 ? "34" : word(for: property)
    }
    let accounts = named == nil ? [] : namesMany ? ["bob", "carol"] : ["bob"]
    return ([name] + operands + accounts + options).joined(separator: " ")
  }

  private func word(for property: Property) -> String {
    route.options.example[property.name] ?? (property.isDuration ? "1h" : property.shape.exampleWord)
  }
}

extension Shape {
  /// A word that could be the value.
  fileprivate var exampleWord: String {
    switch bare {
    case .account: "bob"
    case .device: "phone"
    case .id: "12"
    case .message: "382919632803229696"
    case .code: "7K3M0QWX9ZAB"
    case .flag: "true"
    case .integer(let ranges): "\(max(ranges.last?.lowerBound ?? 60, 60))"
    case .time: "24h"
    case .words(_, let words): words.first ?? "word"
    case .numbers(_, let words): words.first?.word ?? "0"
    case .list(let element, _): element.exampleWord
    case .object, .json, .jsonObject, .map: "{}"
    default: "text"
    }
  }
}
