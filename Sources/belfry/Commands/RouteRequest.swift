import BelfryInterface
import BelfryModel
import FoundationEssentials

/// What a row asks for, as operands and options; and what was given, as the parts of a request.
///
/// What a command acts on stands as words: first what the path names, in its order, then the accounts that the body
/// names (`group show 12`, `member remove 77 bob`, `group mute 12 bob carol`). Everything else is an option.
struct RouteRequest: Sendable {
  let route: Route

  init(_ route: Route) { self.route = route }

  // MARK: As a command

  /// The accounts of a body that needs some, as many as there are words.
  private var named: (property: Property, most: Int)? {
    for property in route.body.shape?.properties ?? [] where property.isNeeded {
      switch property.shape {
      case .list(.account, let counts): return (property, counts.upperBound)
      case .account: return (property, 1)
      default: continue
      }
    }
    return nil
  }

  private var namesMany: Bool { (named?.most ?? 0) > 1 }

  var operands: [Operand] {
    let inPath = route.pathProperties.map { Operand(name: $0.operandName, meaning: $0.meaning) }
    guard let named else { return inPath }
    // Their names may be in a file.
    return inPath + [
      Operand(
        name: "ACCID", meaning: named.property.meaning, isRequired: !namesMany, repeats: namesMany)
    ]
  }

  private var queryOptions: [Property] {
    route.queryProperties.filter { !["limit", "cursor"].contains($0.name) }
  }
  private var bodyOptions: [Property] {
    (route.body.shape?.properties ?? []).filter { $0.name != named?.property.name }
  }

  var options: [CommandOption] {
    let file = CommandOption.value(
      "file", "FILE", "read accids from a file, one per line; - for standard input")
    return (queryOptions + bodyOptions).map { $0.isNeeded ? $0.option.required : $0.option }
      + (namesMany ? [file] : [])
  }

  /// One with all that is needed, and one that narrows a list by time.
  func examples(of name: String) -> [String] {
    let since = queryOptions.filter { $0.shape.bare == .time && !$0.isNeeded }
    return [example(of: name, with: [])] + since.map { example(of: name, with: [$0]) }
  }

  private func example(of name: String, with others: [Property]) -> String {
    let needed = (queryOptions + bodyOptions).filter(\.isNeeded)
    let words = (needed + others).map { "--\($0.commandName) \($0.shape.exampleWord)" }
    let operands = route.pathProperties.map(\.shape.exampleWord)
    let accounts = named == nil ? [] : namesMany ? ["bob", "carol"] : ["bob"]
    return ([name] + operands + accounts + words).joined(separator: " ")
  }

  // MARK: As a request

  /// What is sent.
  struct Parts {
    /// What the path names, in its order.
    let path: [String]
    let query: [(name: String, value: String)]
    /// One a request; nil for a request without a body.
    let bodies: [JSONValue?]
    /// What it acts on, in words: `server 12, bob`; nil where nothing is named, as for the account itself.
    let place: String?
    let accountCount: Int
    fileprivate let accountsPerBody: Int

    func accountsSent(before index: Int) -> Int { min(index * accountsPerBody, accountCount) }
  }

  func parts(_ arguments: Arguments) throws -> Parts {
    var path: [String] = []
    for (property, word) in zip(route.pathProperties, arguments.operands) {
      _ = try property.value(of: word, named: property.operandName)
      path.append(word)
    }
    guard path.count == route.pathProperties.count else {
      throw UsageError("\(route.pathProperties[path.count].operandName) is needed")
    }
    let query = try queryOptions.compactMap { property in
      try arguments.text(property.commandName).map { text in
        let value = try property.value(of: text, named: "--\(property.commandName)")
        return (name: property.name, value: value.queryText ?? text)
      }
    }
    var accounts = arguments.operands.dropFirst(path.count).map { $0 }
    if namesMany, let file = arguments.text("file") { accounts += try LinesOfFile.read(file) }
    return Parts(
      path: path, query: query, bodies: try bodies(arguments, accounts), place: place(path, accounts),
      accountCount: accounts.count, accountsPerBody: named?.most ?? 0)
  }

  private func bodies(_ arguments: Arguments, _ accounts: [String]) throws -> [JSONValue?] {
    guard let shape = route.body.shape else { return [nil] }
    var body: JSONObject = [:]
    for property in shape.properties where property.name != named?.property.name {
      let source = "--\(property.commandName)"
      if case .list(let element, _) = property.shape {
        let words = arguments.list(property.commandName)
        guard !words.isEmpty else { continue }
        body[property.name] = .array(try words.map { try property.value(of: $0, as: element, named: source) })
      } else if let text = arguments.text(property.commandName) {
        body[property.name] = try property.value(of: text, named: source)
      }
    }
    guard let named else { return [.object(body)] }
    let names = try Arguments.accounts(accounts, "ACCID").map { JSONValue.string($0.text) }
    guard let first = names.first else {
      throw UsageError("ACCID\(namesMany ? " or --file" : "") is needed: \(named.property.meaning)")
    }
    guard namesMany else { return [.object(body.merging([named.property.name: first]))] }
    return stride(from: 0, to: names.count, by: named.most).map { start in
      let some = names[start..<min(start + named.most, names.count)]
      return .object(body.merging([named.property.name: .array(Array(some))]))
    }
  }

  private func place(_ path: [String], _ accounts: [String]) -> String? {
    let words = zip(route.pathProperties, path).map { property, word in
      property.name == "accid" ? word : "\(property.commandName) \(word)"
    }
    let all = words + (accounts.count > 5 ? ["\(accounts.count) accounts"] : accounts)
    return all.isEmpty ? nil : all.joined(separator: ", ")
  }
}

// MARK: - Properties as operands and options

extension Property {
  /// `durationSeconds` is `--duration-seconds`; an id is named by what it is the id of.
  var commandName: String { Self.commandName(of: name) }

  /// - Parameter name: a field's, as the wire has it.
  static func commandName(of name: String) -> String {
    let word = renamed[name] ?? (name.hasSuffix("Id") ? String(name.dropLast(2)) : name)
    return word.reduce(into: "") { text, character in
      if character.isUppercase { text.append("-") }
      text.append(character.lowercased())
    }
  }

  fileprivate var operandName: String { commandName.uppercased() }
  /// Over a column.
  var heading: String { commandName.replacing("-", with: " ").uppercased() }

  /// Every command has `--url` and `--token` for the broker and for who asks.
  private static let renamed = [
    "url": "link", "token": "invitation", "ttlSeconds": "ttl", "messageServerId": "message",
  ]

  fileprivate var option: CommandOption {
    switch shape.bare {
    case .flag: .choice(commandName, ["true", "false"], meaning)
    case .words(_, let words): .choice(commandName, words, meaning)
    case .numbers(_, let words): .choice(commandName, words.map(\.word), meaning)
    case .list: .list(commandName, shape.placeholder, meaning)
    case .time: .value(commandName, shape.placeholder, "\(meaning): \(TimeText.inputRule(direction))")
    case .integer where isDuration:
      .value(commandName, "TIME", "\(meaning): \(DurationText.inputRule)")
    default: .value(commandName, shape.placeholder, meaning)
    }
  }

  /// One word as the wire has it.
  ///
  /// - Parameters:
  ///   - shape: the property's, unless it is a list.
  ///   - source: the option or operand it was given as.
  fileprivate func value(
    of text: String, as shape: Shape? = nil, named source: String
  ) throws(UsageError) -> JSONValue {
    let shape = (shape ?? self.shape).bare
    guard let value = value(ofWord: text, as: shape) else {
      // A key is no word for a screen or a log.
      let given = OperatorRoutes.isKey(text) ? "a key itself" : text
      throw UsageError(
        "\(source) must be \(isDuration ? DurationText.inputRule : shape.rule(direction)), not \(given)")
    }
    return value
  }

  private func value(ofWord text: String, as shape: Shape) -> JSONValue? {
    isDuration
      ? DurationText.seconds(of: text).map { .integer(Int64($0)) } : shape.value(ofWord: text, direction)
  }

  /// True for a number of seconds, which is given as a length of time.
  private var isDuration: Bool {
    guard case .integer = shape.bare else { return false }
    return name.hasSuffix("Seconds")
  }

  /// Lists go back in time; all else that has a time is about what is to come.
  private var direction: TimeText.Direction { name == "since" ? .ago : .ahead }
}

extension JSONValue {
  /// As a query has it.
  fileprivate var queryText: String? {
    switch self {
    case .string(let text): text
    case .integer(let number): String(number)
    case .bool(let flag): String(flag)
    default: nil
    }
  }
}

extension Shape {
  /// Nil where the word cannot mean one.
  fileprivate func value(ofWord text: String, _ direction: TimeText.Direction) -> JSONValue? {
    switch self {
    case .account: AccountID(text).map { .string($0.text) }
    case .id: EntityID(text).map { .string($0.text) }
    case .message: MessageID(text).map { .string($0.text) }
    case .flag: text == "true" ? true : text == "false" ? false : nil
    case .numbers(_, let words):
      words.first { $0.word == text || "\($0.number)" == text }.map { .integer(Int64($0.number)) }
    case .integer: Int64(text).map { .integer($0) }
    case .time: TimeText.unixMilliseconds(of: text, direction, now: Date()).map { .integer($0) }
    case .object, .json, .jsonObject, .map: try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    default: .string(text)
    }
  }

  /// What a word for it must be.
  fileprivate func rule(_ direction: TimeText.Direction) -> String {
    switch self {
    case .account: "letters, digits and _ . @ -"
    case .id: "an id: digits, as the broker gave them"
    case .message: "a message id: digits, as the broker gave them"
    case .integer: "a whole number"
    case .time: TimeText.inputRule(direction)
    case .object, .json, .jsonObject, .map: "JSON; text needs its quotes, as in '\"text\"'"
    default: "a \(placeholder.lowercased())"
    }
  }

  fileprivate var placeholder: String {
    switch bare {
    case .account: "ACCID"
    case .device, .id, .message: "ID"
    case .integer: "N"
    case .time: "TIME"
    case .words(_, let words): words.joined(separator: "|")
    case .list(let element, _): element.placeholder
    case .object, .json, .jsonObject, .map: "JSON"
    default: "TEXT"
    }
  }

  /// Something that could stand there.
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
