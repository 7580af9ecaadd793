import BelfryInterface

// Examples of the commands that are made from rows, for their help.

extension RouteRequest {
  /// One example with everything that is needed, one that narrows a list by time, and one that leaves out the
  /// request to be answered.
  func examples(of name: String) -> [Command.Example] {
    if answersRequest {
      let whole = example(of: name, with: [])
      let short = whole.split(separator: " ").dropLast().joined(separator: " ")
      guard applications != nil else { return [Command.Example(short, "the account's own invitation")] }
      return [
        Command.Example(short, "the only pending application"),
        Command.Example(whole, "the application of bob"),
      ]
    }
    let since = queryOptions.filter { $0.shape.bare == .time && !$0.isNeeded }
    return [Command.Example(example(of: name, with: []))]
      + since.map { Command.Example(example(of: name, with: [$0]), "only entries of the last day") }
  }

  private func example(of name: String, with others: [Property]) -> String {
    let shown = (queryOptions + bodyOptions).filter { property in
      property.isNeeded || route.options.example[property.name] != nil
    }
    let options = (shown + others).map { "--\($0.commandName) \(word(for: $0))" }
    let operands = route.pathProperties.map { word(for: $0) }
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
    case .message: "309237645312"
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
